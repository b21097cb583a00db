// Feature: textures | objects on arrays, linear and pitched memory; 1D to 3D, layered; point and linear filters; clamp, wrap, mirror, border; normalised reads
#include "../runtime_expect.h"

__global__ void read_2d(cudaTextureObject_t texture, float* out, const float2* at, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) out[i] = tex2D<float>(texture, at[i].x, at[i].y);
}
__global__ void read_linear(cudaTextureObject_t texture, int4* out) {
    *out = tex1Dfetch<int4>(texture, 2);
}
__global__ void read_bytes(cudaTextureObject_t texture, float4* out) {
    *out = tex1D<float4>(texture, 1.5f);
}
__global__ void read_3d(cudaTextureObject_t texture, float* out) {
    out[0] = tex3D<float>(texture, 1.5f, 0.5f, 1.5f);
    out[1] = tex3D<float>(texture, 1.0f, 1.0f, 1.0f);
}
__global__ void read_layer(cudaTextureObject_t texture, float* out) {
    tex2DLayered<float>(texture, 0.5f, 0.5f, 0);
    *out = tex2DLayered<float>(texture, 1.5f, 0.5f, 1);
}

cudaTextureObject_t object(const cudaResourceDesc& resource, cudaTextureAddressMode mode,
                           cudaTextureFilterMode filter, bool normalised,
                           cudaTextureReadMode read = cudaReadModeElementType) {
    cudaTextureDesc how{};
    for (cudaTextureAddressMode& one : how.addressMode) one = mode;
    how.filterMode = filter;
    how.readMode = read;
    how.normalizedCoords = normalised;
    cudaTextureObject_t made = 0;
    SUCCEEDS(cudaCreateTextureObject(&made, &resource, &how, nullptr));
    return made;
}
void expect_2d(cudaTextureObject_t texture, float x, float y, float right) {
    float2 at{x, y}, *places = zeros<float2>(1);
    float* out = zeros<float>(1);
    SUCCEEDS(cudaMemcpy(places, &at, sizeof at, cudaMemcpyHostToDevice));
    read_2d<<<1, 1>>>(texture, out, places, 1);
    EXPECT_RUN();
    if (read_back(out) != right) printf("(%g, %g): %g, not %g\n", x, y, read_back(out), right);
    EXPECT(read_back(out) == right);
    SUCCEEDS(cudaFree(places));
    SUCCEEDS(cudaFree(out));
}

void two_dimensions() {
    float values[2][4] = {{0, 1, 2, 3}, {10, 11, 12, 13}};
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    SUCCEEDS(cudaMallocArray(&array, &format, 4, 2));
    SUCCEEDS(cudaMemcpy2DToArray(array, 0, 0, values, sizeof values[0], sizeof values[0], 2,
                                 cudaMemcpyHostToDevice));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureObject_t t = object(resource, cudaAddressModeClamp, cudaFilterModePoint, false);
    expect_2d(t, 1.9f, 1.1f, 11);
    expect_2d(t, -3, 5, 10);
    SUCCEEDS(cudaDestroyTextureObject(t));
    t = object(resource, cudaAddressModeBorder, cudaFilterModeLinear, false);
    expect_2d(t, 1, 1, 5.5f);
    expect_2d(t, 2.5f, 0.5f, 2);
    expect_2d(t, 4, 0.5f, 1.5f);
    expect_2d(t, 9, 0.5f, 0);
    SUCCEEDS(cudaDestroyTextureObject(t));
    t = object(resource, cudaAddressModeWrap, cudaFilterModePoint, true);
    expect_2d(t, 1.125f, 0.25f, 0);
    expect_2d(t, -0.125f, 1.75f, 13);
    SUCCEEDS(cudaDestroyTextureObject(t));
    t = object(resource, cudaAddressModeMirror, cudaFilterModePoint, true);
    expect_2d(t, 1.125f, 0.25f, 3);
    expect_2d(t, -0.375f, 0.25f, 1);
    SUCCEEDS(cudaDestroyTextureObject(t));
    float back[2][4];
    SUCCEEDS(cudaMemcpy2DFromArray(back, sizeof back[0], array, 0, 0, sizeof back[0], 2,
                                   cudaMemcpyDeviceToHost));
    EXPECT(back[1][3] == 13);
    FAILS(cudaErrorInvalidValue, cudaMemcpy2DToArray(array, 4, 0, values, sizeof values[0],
                                                     sizeof values[0], 2, cudaMemcpyHostToDevice));
    SUCCEEDS(cudaFreeArray(array));
}

void linear_memory() {
    int host[16];
    for (int i = 0; i < 16; ++i) host[i] = i;
    int* memory = zeros<int>(16);
    SUCCEEDS(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<int4>();
    resource.res.linear.sizeInBytes = sizeof host;
    cudaTextureObject_t t = object(resource, cudaAddressModeClamp, cudaFilterModePoint, false);
    int4* out = zeros<int4>(1);
    read_linear<<<1, 1>>>(t, out);
    EXPECT_RUN();
    const int4 found = read_back(out);
    EXPECT(found.x == 8 && found.w == 11);
    SUCCEEDS(cudaDestroyTextureObject(t));

    const unsigned char bytes[2][4] = {{0, 51, 102, 255}, {255, 0, 51, 102}};
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    SUCCEEDS(cudaMallocArray(&array, &format, 2));
    SUCCEEDS(cudaMemcpy2DToArray(array, 0, 0, bytes, sizeof bytes, sizeof bytes, 1,
                                 cudaMemcpyHostToDevice));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    t = object(resource, cudaAddressModeClamp, cudaFilterModeLinear, false,
               cudaReadModeNormalizedFloat);
    float4* colour = zeros<float4>(1);
    read_bytes<<<1, 1>>>(t, colour);
    EXPECT_RUN();
    EXPECT(read_back(colour).x == 1 && read_back(colour).z == 0.2f);
    SUCCEEDS(cudaDestroyTextureObject(t));
    SUCCEEDS(cudaFreeArray(array));
    for (void* pointer : {(void*)memory, (void*)out, (void*)colour}) SUCCEEDS(cudaFree(pointer));
}

void three_dimensions() {
    float values[2][2][2], *out = zeros<float>(2);
    for (int i = 0; i < 8; ++i) (&values[0][0][0])[i] = static_cast<float>(i);
    for (const unsigned int flags : {cudaArrayDefault, cudaArrayLayered}) {
        cudaArray_t array;
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        SUCCEEDS(cudaMalloc3DArray(&array, &format, make_cudaExtent(2, 2, 2), flags));
        cudaMemcpy3DParms copy{};
        copy.srcPtr = make_cudaPitchedPtr(values, 2 * sizeof(float), 2, 2);
        copy.dstArray = array;
        copy.extent = make_cudaExtent(2, 2, 2);
        copy.kind = cudaMemcpyHostToDevice;
        SUCCEEDS(cudaMemcpy3D(&copy));
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        cudaTextureObject_t t = object(resource, cudaAddressModeClamp, cudaFilterModeLinear, false);
        if (flags == cudaArrayLayered) {
            read_layer<<<1, 1>>>(t, out);
            EXPECT_RUN();
            EXPECT(read_back(out) == 5);
        } else {
            read_3d<<<1, 1>>>(t, out);
            EXPECT_RUN();
            EXPECT(read_back(out) == 5 && read_back(out + 1) == 3.5f);
        }
        SUCCEEDS(cudaDestroyTextureObject(t));
        SUCCEEDS(cudaFreeArray(array));
    }
    SUCCEEDS(cudaFree(out));
}

int main() {
    two_dimensions();
    linear_memory();
    three_dimensions();
    printf("ok\n");
}

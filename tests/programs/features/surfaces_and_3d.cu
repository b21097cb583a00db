// Feature: surfaces, 3D memory | `surf2Dread`, `surf2Dwrite` and their boundary modes, `cudaMalloc3D`, `cudaMemset3D`, `cudaMemcpy3D`
#include "../runtime_expect.h"

__global__ void transpose(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int side) {
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const float value = surf2Dread<float>(from, x * static_cast<int>(sizeof(float)), y);
    surf2Dwrite(value, to, y * static_cast<int>(sizeof(float)), x);
    if (x == 0 && y == 0) {
        float outside = 1;
        surf2Dread(&outside, from, side * static_cast<int>(sizeof(float)), 0, cudaBoundaryModeZero);
        EXPECT(outside == 0 && surf2Dread<float>(from, -4, -1, cudaBoundaryModeClamp) == 0);
    }
}
__global__ void add_slice(cudaPitchedPtr memory, int width, int height, int depth) {
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y),
              z = static_cast<int>(threadIdx.z);
    if (x >= width || y >= height || z >= depth) return;
    char* const row = static_cast<char*>(memory.ptr) + (z * memory.ysize + y) * memory.pitch;
    reinterpret_cast<int*>(row)[x] += 100 * z + 10 * y + x;
}

int main() {
    const int side = 8;
    float host[side][side];
    for (int i = 0; i < side * side; ++i) host[i / side][i % side] = static_cast<float>(i);
    cudaArray_t arrays[2];
    cudaSurfaceObject_t surfaces[2];
    const cudaChannelFormatDesc format =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    for (int i = 0; i < 2; ++i) {
        SUCCEEDS(cudaMallocArray(&arrays[i], &format, side, side, cudaArraySurfaceLoadStore));
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = arrays[i];
        SUCCEEDS(cudaCreateSurfaceObject(&surfaces[i], &resource));
    }
    SUCCEEDS(cudaMemcpy2DToArray(arrays[0], 0, 0, host, sizeof host[0], sizeof host[0], side,
                                 cudaMemcpyHostToDevice));
    transpose<<<1, dim3(side, side)>>>(surfaces[0], surfaces[1], side);
    EXPECT_RUN();
    SUCCEEDS(cudaMemcpy2DFromArray(host, sizeof host[0], arrays[1], 0, 0, sizeof host[0], side,
                                   cudaMemcpyDeviceToHost));
    EXPECT(host[1][0] == 1 && host[0][1] == side && host[7][3] == 3 * side + 7);
    for (int i = 0; i < 2; ++i) {
        SUCCEEDS(cudaDestroySurfaceObject(surfaces[i]));
        SUCCEEDS(cudaFreeArray(arrays[i]));
    }

    const cudaExtent extent = make_cudaExtent(5 * sizeof(int), 3, 2);
    cudaPitchedPtr memory;
    SUCCEEDS(cudaMalloc3D(&memory, extent));
    SUCCEEDS(cudaMemset3D(memory, 1, extent));
    add_slice<<<1, dim3(8, 4, 2)>>>(memory, 5, 3, 2);
    EXPECT_RUN();
    int box[2][3][5];
    cudaMemcpy3DParms copy{};
    copy.srcPtr = memory;
    copy.dstPtr = make_cudaPitchedPtr(box, sizeof box[0][0], sizeof box[0][0], 3);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    SUCCEEDS(cudaMemcpy3D(&copy));
    EXPECT(box[1][2][4] == 0x01010101 + 124 && box[0][0][0] == 0x01010101);
    SUCCEEDS(cudaFree(memory.ptr));
    printf("ok\n");
}

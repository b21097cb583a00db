"""What learners get wrong in lab 01."""

from faults import Fault

BLOCK_NUMBER = "blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)"
PLACE = "threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)"
LAUNCH = "greet_kernel<<<grid, block>>>();"
WAIT = "    if (wait) wait_for_device();\n"
GOODBYE = '    printf("host: goodbye, %.3f ms after the launch\\n", timer.milliseconds());\n'

FAULTS = [
    Fault(name="threadIdx used for blockIdx", old=BLOCK_NUMBER,
          new="threadIdx.x + gridDim.x * (threadIdx.y + gridDim.y * threadIdx.z)",
          caught="threadIdx stands where blockIdx should", cases=("the grid without options",)),
    Fault(name="blockIdx used for threadIdx", old=PLACE,
          new="blockIdx.x + blockDim.x * (blockIdx.y + blockDim.y * blockIdx.z)",
          caught="blockIdx stands where threadIdx should", cases=("the grid without options",)),
    Fault(name="width used for height of the grid", old="gridDim.y * blockIdx.z",
          new="gridDim.x * blockIdx.z", caught="multiplies blockIdx.z by gridDim.x; a layer of the grid"),
    Fault(name="depth of the block forgotten", old="(threadIdx.y + blockDim.y * threadIdx.z)",
          new="threadIdx.y", caught="leaves out threadIdx.z"),
    Fault(name="z fastest in the block", old=PLACE,
          new="threadIdx.z + blockDim.z * (threadIdx.y + blockDim.y * threadIdx.x)",
          caught="z runs fastest within the block"),
    Fault(name="size of the grid for that of the block", old="block_number * count(blockDim)",
          new="block_number * count(gridDim)", caught="multiplies by count.gridDim.; a block holds count.blockDim. threads"),
    Fault(name="place in the block only", old="block_number * count(blockDim) + place_in_block",
          new="place_in_block + 0 * block_number", caught="the blocks before it count too", cases=("the grid without options",)),
    Fault(name="numbers from one", old="count(blockDim) + place_in_block",
          new="count(blockDim) + place_in_block + 1", caught="one too large", cases=("the grid without options",)),
    Fault(name="one number for all", old="block_number * count(blockDim) + place_in_block",
          new="0 * (block_number + place_in_block)", caught="every thread says 0"),
    Fault(name="missing launch", old=LAUNCH, new="(void)grid, (void)block;",
          caught="greet_kernel is never launched .task 1|is greet_kernel launched"),
    Fault(name="missing synchronisation", old="CHECK(cudaDeviceSynchronize());", new="",
          caught="no thread says hello: .*does.* wait"),
    Fault(name="goodbye before the wait", old=WAIT + GOODBYE, new=GOODBYE + WAIT,
          caught="it must wait before"),
    Fault(name="waits as a part of the launch", old="    CHECK_LAUNCH();\n",
          new="    CHECK_LAUNCH();\n    CHECK(cudaDeviceSynchronize());\n",
          caught="a thread's line comes before the launch has returned"),
    Fault(name="waits in spite of --no-wait", old=WAIT, new="    wait_for_device();\n    (void)wait;\n",
          caught="--no-wait tells it not to"),
    Fault(name="grid and block swapped", old=LAUNCH, new="greet_kernel<<<block, grid>>>();",
          caught="swapped in the launch"),
    Fault(name="last block missing", old=LAUNCH,
          new="greet_kernel<<<dim3(grid.x > 1 ? grid.x - 1 : 1, grid.y, grid.z), block>>>();",
          caught="never run: the launch has fewer blocks than asked for"),
    Fault(name="first thread silent", old="    printf(\"device:", new="    if (number > 0) printf(\"device:",
          caught="do not greet|no thread says hello"),
    Fault(name="launched twice", old=LAUNCH, new=f"{LAUNCH} {LAUNCH}", caught="greet more than once"),
    Fault(name="unchecked launch", old="    CHECK_LAUNCH();\n", new="", backends=("cpu",),
          caught="nobody asks whether the launch of greet_kernel .*task 1"),
    Fault(name="block too large for any device", old=LAUNCH, new="greet_kernel<<<grid, 2048>>>();",
          caught="cudaErrorInvalid(Configuration|Value)"),
]

#!/bin/bash
# Several machines of a cluster with Slurm: sbatch further/several_machines.sh
# Two machines with four cards each make eight ranks. Slurm starts the processes, MPI tells each who it is, and NCCL finds
# the cards: over NVLink inside a machine, over InfiniBand or Ethernet between them.
#SBATCH --job-name=several_gpus
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=4
#SBATCH --time=00:10:00

# What your cluster calls them: `module avail` lists them.
module load cuda openmpi nccl

# The first lines of what NCCL says tell which way it takes; NCCL_SOCKET_IFNAME=eth0 chooses a network where it finds
# the wrong one.
export NCCL_DEBUG=INFO
# srun starts one process a task, and gives each the MPI of Slurm. Where that is another one than mpicxx has linked, `mpirun` does it.
srun --mpi=pmix ./processes 65536 65536 100

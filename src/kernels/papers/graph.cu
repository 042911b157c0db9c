/*
   Graphs of the CUDA runtime.
*/
#include <stdlib.h>
#include "device/runtime.cuh"
#include "papers/graph.h"

struct TrsvDeviceGraph {
  TrsvError (*launch)(void *, TrsvStream);
  void           *data;
  cudaGraphExec_t exec;
};

extern "C" TrsvError TrsvDeviceGraphCreate(TrsvError (*launch)(void *, TrsvStream), void *data, TrsvDeviceGraph **graph)
{
  cudaGraph_t recorded = NULL;
  TrsvError   error;

  *graph = (TrsvDeviceGraph *)calloc(1, sizeof(**graph));
  if (!*graph) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a graph");
  (*graph)->launch = launch;
  (*graph)->data   = data;
  error            = TrsvDeviceCapture(launch, data, &recorded);
  if (!error) error = Check(cudaGraphInstantiate(&(*graph)->exec, recorded, 0), "cudaGraphInstantiate");
  if (recorded) (void)cudaGraphDestroy(recorded);
  if (error) TrsvDeviceGraphDestroy(graph);
  return error;
}

extern "C" TrsvError TrsvDeviceGraphLaunch(TrsvDeviceGraph *graph, TrsvStream stream)
{
  cudaStreamCaptureStatus status;

  TrsvCall(Check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing"));
  if (status != cudaStreamCaptureStatusNone) return graph->launch(graph->data, stream); /* part of the caller's graph */
  return Check(cudaGraphLaunch(graph->exec, stream), "cudaGraphLaunch");
}

extern "C" void TrsvDeviceGraphDestroy(TrsvDeviceGraph **graph)
{
  if (!*graph) return;
  if ((*graph)->exec) (void)cudaGraphExecDestroy((*graph)->exec);
  free(*graph);
  *graph = NULL;
}

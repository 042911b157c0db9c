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

/* Records what launch(data, stream) launches, in a stream of its own, so that other streams of the process can be used
   meanwhile. */
static TrsvError Capture(TrsvError (*launch)(void *, TrsvStream), void *data, cudaGraph_t *graph)
{
  cudaStream_t stream;

  TrsvCall(Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"));
  (void)pthread_mutex_lock(&TrsvDeviceRecording);
  TrsvError error = Check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  if (!error) {
    error                 = launch(data, stream);
    const cudaError_t end = cudaStreamEndCapture(stream, graph);
    if (!error) error = Check(end, "cudaStreamEndCapture");
  }
  (void)pthread_mutex_unlock(&TrsvDeviceRecording);
  (void)cudaStreamDestroy(stream);
  return error;
}

extern "C" TrsvError TrsvDeviceGraphCreate(TrsvError (*launch)(void *, TrsvStream), void *data, TrsvDeviceGraph **graph)
{
  cudaGraph_t recorded = NULL;
  TrsvError   error;

  *graph = (TrsvDeviceGraph *)calloc(1, sizeof(**graph));
  if (!*graph) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a graph");
  (*graph)->launch = launch;
  (*graph)->data   = data;
  error            = Capture(launch, data, &recorded);
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

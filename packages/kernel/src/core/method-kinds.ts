import type { DescMethod, DescMethodServerStreaming, DescMethodUnary } from "@bufbuild/protobuf";

export function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

export function isServerStreaming(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === "server_streaming";
}

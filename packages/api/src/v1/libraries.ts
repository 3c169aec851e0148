export * from "../gen/moorage/libraries/artifacts_pb.ts";

export * from "../gen/moorage/registry/registry_pb.ts";
export * from "../gen/moorage/registry/vulnerabilities_pb.ts";

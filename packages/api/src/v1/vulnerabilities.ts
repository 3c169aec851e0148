export * from "../gen/moorage/vulnerabilities/v1/advisories_pb.ts";

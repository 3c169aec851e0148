export * from "../gen/moorage/advisory/security_advisories_pb.ts";

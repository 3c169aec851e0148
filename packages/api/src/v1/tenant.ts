export * from "../gen/moorage/tenant/sboms_pb.ts";
export * from "../gen/moorage/tenant/vuln_reports_pb.ts";

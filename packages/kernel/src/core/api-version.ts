import type { DescMessage, DescService } from "@bufbuild/protobuf";

const V1 = /^moorage\.(?:advisory|iam|libraries|registry|tenant|vulnerabilities\.v1)$/;

/** Whether a service or a message is of the v1 API, most packages of which have no version. */
export function isV1({ file }: DescService | DescMessage): boolean {
  return V1.test(file.proto.package);
}

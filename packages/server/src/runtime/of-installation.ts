import type { DescMethod } from "@bufbuild/protobuf";
import { OperationsService } from "@moorage/api/messages";

/** Whether the method is for operators of the installation: then it is about no resource of a group. */
export function isOfInstallation({ desc }: { desc: DescMethod }): boolean {
  return desc.parent.typeName === OperationsService.typeName;
}

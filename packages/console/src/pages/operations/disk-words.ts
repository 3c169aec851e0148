import type { DiskSpace } from "../../api/gen/operations.ts";

const LITTLE_SHARE = 0.1;

/** Whether less than a tenth of the disk is free. */
export function isLittle({ totalBytes, freeBytes }: DiskSpace): boolean {
  return Number(freeBytes) < Number(totalBytes) * LITTLE_SHARE;
}

import { spaceOf } from "@moorage/kernel/lib/disk-space";
import { timestamp } from "@moorage/kernel/lib/timestamps";

/** What is left on the file system of the folder; undefined where that does not answer within a second. */
export async function diskMessage(folder: string, nowMs: number) {
  const space = await spaceOf(folder);
  if (space === undefined) return undefined;
  const { totalBytes, freeBytes } = space;
  return { totalBytes: BigInt(totalBytes), freeBytes: BigInt(freeBytes), readTime: timestamp(nowMs) };
}

import { type TrustRoot, TrustRootSchema } from "@moorage/api/messages";
import { resource } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import { type TufSource, tufSource } from "./tuf-source.ts";

const LAYOUT = layoutOf(TrustRootSchema);

/** The columns that an update can change. */
export const trustRootColumns = columnsOf(LAYOUT, "trust_roots", [
  "name",
  "trusted_root",
  "tuf",
  "log_threshold",
  "sct_threshold",
  "timestamp_threshold",
]);

export const trustRoots = resource({
  message: TrustRootSchema,
  table: "trust_roots",
  toMessage: LAYOUT.ofRow,
  toRow: trustRootColumns,
});

/** From where the trusted root is fetched; undefined for one that stands in the resource. */
export function sourceOf({ tuf }: Pick<TrustRoot, "tuf">): TufSource | undefined {
  if (tuf === undefined) return undefined;
  const { url, root, interval } = tuf;
  return tufSource({ url, root, ...(interval !== undefined && { intervalMs: intervalMs(interval) }) });
}

/** An interval in whole milliseconds. */
export function intervalMs({ seconds, nanos }: { seconds: bigint; nanos: number }): number {
  return Number(seconds) * 1_000 + Math.ceil(nanos / 1_000_000);
}

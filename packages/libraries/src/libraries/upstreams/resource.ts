import { UpstreamSchema } from "@moorage/api/messages";
import { resource } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";

/** How upstreams are stored, without their passwords. */
export const UPSTREAM_LAYOUT = layoutOf(UpstreamSchema, { without: ["password"] });

export const upstreamColumns = columnsOf(UPSTREAM_LAYOUT, "upstreams", [
  "ecosystem",
  "description",
  "url",
  "username",
  "reserved_names",
  "merged_names",
  "disabled",
]);

export const upstreams = resource({
  message: UpstreamSchema,
  table: "upstreams",
  toMessage: UPSTREAM_LAYOUT.ofRow,
  toRow: upstreamColumns,
});

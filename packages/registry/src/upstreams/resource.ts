import { RegistryUpstreamSchema } from "@moorage/api/messages";
import { resource } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";

/** How upstreams are stored, without their passwords. */
export const UPSTREAM_LAYOUT = layoutOf(RegistryUpstreamSchema, { without: ["password"] });

export const upstreamColumns = columnsOf(UPSTREAM_LAYOUT, "registry_upstreams", [
  "registry",
  "prefix",
  "description",
  "username",
  "allowed",
  "denied",
  "tag_ttl",
  "missing_ttl",
  "cooldown",
  "allowed_digests",
  "anonymous_networks",
  "disabled",
  "keep_unpulled",
  "max_bytes",
  "tag_policy",
  "follow",
]);

export const registryUpstreams = resource({
  message: RegistryUpstreamSchema,
  table: "registry_upstreams",
  toMessage: UPSTREAM_LAYOUT.ofRow,
  toRow: upstreamColumns,
});

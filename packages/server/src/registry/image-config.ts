import { isObject, parseJson } from "../lib/json.ts";

/** A larger configuration is not read, so its architecture is unknown. Those that tools write are far smaller. */
export const MAX_CONFIG_BYTES = 1 << 20;
const MAX_DEPTH = 64;
const MAX_NAME = 64;

/**
 * The architecture that an image's configuration names, with its variant, such as `arm/v7`. Empty when it names none:
 * the configuration of an artifact may be anything. Source: OCI image specification v1.1, "Image Configuration".
 */
export function architectureIn(config: Uint8Array): string {
  let parsed: unknown;
  try {
    parsed = parseJson(Buffer.from(config).toString(), MAX_DEPTH);
  } catch {
    return "";
  }
  return isObject(parsed) ? architectureName(parsed) : "";
}

/** The architecture of a configuration or of the platform in an index, with its variant. Empty without one. */
export function architectureName({ architecture, variant }: { architecture?: unknown; variant?: unknown }): string {
  return isName(architecture) ? (isName(variant) ? `${architecture}/${variant}` : architecture) : "";
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_NAME;
}

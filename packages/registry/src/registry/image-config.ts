import { isObject, parseJson } from "@moorage/kernel/lib/json";

/** A larger configuration is not read, so what it says is unknown. Those that tools write are far smaller. */
export const MAX_CONFIG_BYTES = 1 << 20;
const MAX_DEPTH = 64;
const MAX_NAME = 64;
const MAX_LABELS = 200;
const MAX_KEY = 256;
const MAX_VALUE = 1_024;

/** What is stored of an image's configuration, so that no later question reads it again. */
export interface ImageConfig {
  /** With its variant, such as `arm/v7`. Empty when it names none. */
  architecture: string;
  /** Those that are texts, with at most 1,024 characters of each, of the first 200 of them. */
  labels: Record<string, string>;
}

/**
 * What an image's configuration says. The configuration of an artifact may be anything: then it says nothing. Source:
 * OCI image specification v1.1, "Image Configuration".
 */
export function imageConfigIn(content: Uint8Array): ImageConfig {
  let parsed: unknown;
  try {
    parsed = parseJson(Buffer.from(content).toString(), MAX_DEPTH);
  } catch {
    return NO_CONFIG;
  }
  if (!isObject(parsed)) return NO_CONFIG;
  const { config } = parsed;
  return { architecture: architectureName(parsed), labels: isObject(config) ? labelsIn(config["Labels"]) : {} };
}

/** What is stored of a configuration that says nothing. */
export const NO_CONFIG: ImageConfig = { architecture: "", labels: {} };

function labelsIn(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(isObject(value) ? value : {})
      .filter((pair): pair is [string, string] => typeof pair[1] === "string" && pair[0].length <= MAX_KEY)
      .slice(0, MAX_LABELS)
      .map(([key, text]) => [key, text.slice(0, MAX_VALUE)]),
  );
}

/** The architecture of a configuration or of the platform in an index, with its variant. Empty without one. */
export function architectureName({ architecture, variant }: { architecture?: unknown; variant?: unknown }): string {
  return isName(architecture) ? (isName(variant) ? `${architecture}/${variant}` : architecture) : "";
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_NAME;
}

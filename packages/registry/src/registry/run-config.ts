import { failedPrecondition } from "@moorage/kernel/errors";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { MAX_CONFIG_BYTES } from "./image-config.ts";
import { configOf, type Image, type Place } from "./image-sizes.ts";

/**
 * How containers of an image are run. What the configuration does not say is empty. Source: OCI image specification
 * v1.1, "Image Configuration", `config`.
 */
export interface RunConfig {
  user: string;
  /** Such as `8080/tcp`. */
  exposedPorts: string[];
  env: string[];
  entrypoint: string[];
  cmd: string[];
  /** Paths. */
  volumes: string[];
  workingDir: string;
  labels: Record<string, string>;
  stopSignal: string;
}

const MAX_DEPTH = 64;

/**
 * What the image's configuration says, as the repo serves it. Throws FAILED_PRECONDITION (CONFIG_NOT_READ) where the
 * repo does not hold it, it has more than 1 MiB, or is no JSON object.
 */
export async function runConfigOf(place: Place, { digest }: Image): Promise<RunConfig> {
  const config = await configOf(place, digest);
  const content =
    config === undefined ? undefined : await place.readBlob(place.call, place.repo, config, MAX_CONFIG_BYTES);
  const parsed = content === undefined ? undefined : runConfigIn(content);
  if (parsed === undefined)
    throw failedPrecondition({
      type: "CONFIG_NOT_READ",
      subject: digest,
      description: `the configuration of ${digest} is not stored here, has more than ${MAX_CONFIG_BYTES} bytes, or is none of an image`,
    });
  return parsed;
}

/** Undefined for what is no JSON object. Values of other types than the specification's are left out. */
function runConfigIn(content: Uint8Array): RunConfig | undefined {
  const image = parsed(content);
  if (!isObject(image)) return undefined;
  const config = isObject(image["config"]) ? image["config"] : {};
  return {
    user: textOf(config["User"]),
    exposedPorts: keysOf(config["ExposedPorts"]),
    env: textsOf(config["Env"]),
    entrypoint: textsOf(config["Entrypoint"]),
    cmd: textsOf(config["Cmd"]),
    volumes: keysOf(config["Volumes"]),
    workingDir: textOf(config["WorkingDir"]),
    labels: Object.fromEntries(
      Object.entries(isObject(config["Labels"]) ? config["Labels"] : {}).filter(
        (pair): pair is [string, string] => typeof pair[1] === "string",
      ),
    ),
    stopSignal: textOf(config["StopSignal"]),
  };
}

function parsed(content: Uint8Array): unknown {
  try {
    return parseJson(Buffer.from(content).toString(), MAX_DEPTH);
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function keysOf(value: unknown): string[] {
  return isObject(value) ? Object.keys(value) : [];
}

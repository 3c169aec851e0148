import { readFileSync, statSync } from "node:fs";
import { type Config, settingError } from "@moorage/kernel/config";
import { isObject, parseJson } from "@moorage/kernel/lib/json";

const MAX_BYTES = 4 << 20;
const MAX_DEPTH = 32;
const PARTS = ["tlogs", "certificateAuthorities", "ctlogs", "timestampAuthorities"];

/**
 * Reads the file of the setting MOORAGE_SIGSTORE_ROOT: a trusted root as JSON, such as `gh attestation trusted-root` or
 * a mirror of TUF has it. Empty without the setting. Throws a ConfigError. Source: sigstore/protobuf-specs,
 * sigstore_trustroot.proto.
 */
export function readSigstoreRoot({ sigstoreRootFile: file }: Pick<Config, "sigstoreRootFile">): string {
  if (file === "") return "";
  const wrong = (problem: string, cause?: unknown): Error =>
    settingError("sigstoreRootFile", `${file}: ${problem}`, { cause });
  let text: string;
  try {
    if (statSync(file).size > MAX_BYTES) throw wrong(`is larger than ${MAX_BYTES} bytes`);
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw error instanceof Error && "code" in error ? wrong("cannot be read", error) : error;
  }
  let root: unknown;
  try {
    root = parseJson(text, MAX_DEPTH);
  } catch (error) {
    throw wrong("is not JSON", error);
  }
  if (!isObject(root) || !PARTS.some((part) => Array.isArray(root[part])))
    throw wrong(`is not a trusted root of Sigstore: it has none of ${PARTS.join(", ")}`);
  return text;
}

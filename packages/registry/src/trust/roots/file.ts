import { readFileSync, statSync } from "node:fs";
import { type Config, settingError, variableOf } from "@moorage/kernel/config";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { mirrorUrlFault, tufRootFault } from "./check.ts";
import { type TufSource, tufSource } from "./tuf-source.ts";

const MAX_BYTES = 4 << 20;
const MAX_TUF_BYTES = 128 << 10;
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
  const text = textOf(file, MAX_BYTES, wrong);
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

type TufSettings = Pick<Config, "sigstoreRootFile" | "sigstoreTufUrl" | "sigstoreTufRootFile" | "allowPrivateNetwork">;

/**
 * The mirror of the setting MOORAGE_SIGSTORE_TUF_URL, with the root in the file of MOORAGE_SIGSTORE_TUF_ROOT; undefined
 * without. Throws a ConfigError, also where only one of them is set, or a file with the trusted root as well.
 */
export function readSigstoreTuf(config: TufSettings): TufSource | undefined {
  const { sigstoreTufUrl: url, sigstoreTufRootFile: file, allowPrivateNetwork } = config;
  if (url === "" && file === "") return undefined;
  if (url === "") throw settingError("sigstoreTufUrl", "must be set as well");
  if (file === "") throw settingError("sigstoreTufRootFile", "must be set as well");
  if (config.sigstoreRootFile !== "")
    throw settingError("sigstoreTufUrl", `${variableOf("sigstoreRootFile")} is set, too: one of them has the root`);
  const fault = mirrorUrlFault(url, allowPrivateNetwork);
  if (fault !== undefined) throw settingError("sigstoreTufUrl", fault);
  const wrong = (problem: string, cause?: unknown): Error =>
    settingError("sigstoreTufRootFile", `${file}: ${problem}`, { cause });
  const root = textOf(file, MAX_TUF_BYTES, wrong);
  const rootFault = tufRootFault(root);
  if (rootFault !== undefined) throw wrong(rootFault);
  return tufSource({ url, root });
}

function textOf(file: string, maxBytes: number, wrong: (problem: string, cause?: unknown) => Error): string {
  let size: number;
  let text: string;
  try {
    size = statSync(file).size;
    text = size > maxBytes ? "" : readFileSync(file, "utf8");
  } catch (error) {
    throw wrong("cannot be read", error);
  }
  if (size > maxBytes) throw wrong(`is larger than ${maxBytes} bytes`);
  return text;
}

// The fields that a gate, a registry upstream or a replication of a plan has. The server checks what they say; this
// checks that they are such fields, and no others.
import { isObject } from "@moorage/kernel/lib/json";
import type { Settings } from "./model.ts";

type Check = (value: unknown) => boolean;

const MAX_TEXT = 2_048;

const isText: Check = (value) => typeof value === "string" && value.length <= MAX_TEXT;
const isFlag: Check = (value) => typeof value === "boolean";
const isBytes: Check = (value) => Number.isSafeInteger(value) && Number(value) > 0;
const isSeconds: Check = (value) => typeof value === "string" && /^\d{1,10}s$/.test(value);
const oneOf =
  (...values: string[]): Check =>
  (value) =>
    typeof value === "string" && values.includes(value);

const FIELDS: Readonly<Record<"gate" | "registry-upstream" | "replication", Readonly<Record<string, Check>>>> = {
  gate: {
    severity: isText,
    mode: oneOf("GATE_MODE_ENFORCE", "GATE_MODE_PREVIEW"),
  },
  "registry-upstream": { registry: isText, prefix: isText, disabled: isFlag },
  replication: {
    name: isText,
    destination: isText,
    repoPattern: isText,
    tagPattern: isText,
    flatten: isFlag,
    onPush: isFlag,
    interval: isSeconds,
    deletions: oneOf("REPLICATION_DELETIONS_NEVER", "REPLICATION_DELETIONS_FOLLOW"),
    onConflict: oneOf("REPLICATION_CONFLICT_STOP", "REPLICATION_CONFLICT_OVERWRITE"),
    bytesPerSecond: isBytes,
  },
};

/** The fields of an item of the kind, each of which may be left out. */
export function settingsIn(kind: keyof typeof FIELDS, value: unknown, fail: (what: string) => never): Settings {
  if (!isObject(value)) return fail(".settings: must be an object");
  const wrong = Object.entries(value).find(
    ([name, field]) => !Object.hasOwn(FIELDS[kind], name) || FIELDS[kind][name]?.(field) !== true,
  );
  if (wrong !== undefined) fail(`.settings.${wrong[0].slice(0, 100)}: is not what an item of the kind ${kind} has`);
  return value as Settings;
}

import type { TrustRoot } from "@moorage/api/messages";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { Row } from "@moorage/kernel/store";
import type { Thresholds } from "../verify/types.ts";

const MAX_DEPTH = 32;
const MAX_THRESHOLD = 10;

/** A threshold that is wrong, by its field. */
interface Fault {
  field: "logThreshold" | "sctThreshold" | "timestampThreshold";
  description: string;
}

/** The thresholds of a trust root as it is stored. */
export function thresholdsOf({
  log_threshold: logs,
  sct_threshold: scts,
  timestamp_threshold: timestamps,
}: Pick<Row<"trust_roots">, "log_threshold" | "sct_threshold" | "timestamp_threshold">): Thresholds {
  return {
    ...(logs !== null && { logs: Number(logs) }),
    ...(scts !== null && { scts: Number(scts) }),
    ...(timestamps !== null && { timestamps: Number(timestamps) }),
  };
}

/** The thresholds of a message. */
export function thresholdsIn({
  logThreshold: logs,
  sctThreshold: scts,
  timestampThreshold: timestamps,
}: Pick<TrustRoot, "logThreshold" | "sctThreshold" | "timestampThreshold">): Thresholds {
  return {
    ...(logs !== undefined && { logs }),
    ...(scts !== undefined && { scts }),
    ...(timestamps !== undefined && { timestamps }),
  };
}

/** Which thresholds are out of range. */
export function rangeFaults({ logs, scts, timestamps }: Thresholds): Fault[] {
  const fault = (field: Fault["field"], value: number | undefined, least: number): Fault[] =>
    value === undefined || (value >= least && value <= MAX_THRESHOLD)
      ? []
      : [{ field, description: `must be ${least} to ${MAX_THRESHOLD}` }];
  return [
    ...fault("logThreshold", logs, 0),
    ...fault("sctThreshold", scts, 0),
    ...fault("timestampThreshold", timestamps, 1),
  ];
}

/** Which thresholds no signature can reach, since the trusted root, as JSON, names fewer. */
export function unreachable(json: string, { logs = 0, scts = 0, timestamps = 0 }: Thresholds): Fault[] {
  const root = parseJson(json, MAX_DEPTH);
  const listOf = (part: string): unknown[] => {
    const all = isObject(root) ? root[part] : undefined;
    return Array.isArray(all) ? all : [];
  };
  const namedLogs = new Set(listOf("tlogs").map(idOf)).size;
  const authorities = listOf("timestampAuthorities").length;
  const fault = (field: Fault["field"], value: number, named: number, [one, several]: [string, string]): Fault[] =>
    value <= named
      ? []
      : [{ field, description: `is ${value}, but the trusted root names ${named} ${named === 1 ? one : several}` }];
  return [
    ...fault("logThreshold", logs, namedLogs, ["transparency log", "transparency logs"]),
    ...fault("sctThreshold", scts, new Set(listOf("ctlogs").map(idOf)).size, [
      "log of certificates",
      "logs of certificates",
    ]),
    ...fault("timestampThreshold", timestamps, namedLogs + authorities, [
      "log or time-stamping authority",
      "logs and time-stamping authorities",
    ]),
  ];
}

function idOf(log: unknown): string {
  return isObject(log) ? JSON.stringify(log["logId"] ?? log["publicKey"]) : "";
}

/** Why no signature can reach the thresholds with the trusted root, as JSON; undefined when it can. */
export function shortfall(json: string, thresholds: Thresholds): string | undefined {
  // Most roots have none: then what they name need not be read, in the transaction of each claim.
  if (Object.keys(thresholds).length === 0) return undefined;
  const [fault] = unreachable(json, thresholds);
  return fault && `${fault.field} ${fault.description}`;
}

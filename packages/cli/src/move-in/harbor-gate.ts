// Harbor's prevention of vulnerable images, with the vulnerabilities that it lets pass. Source: Harbor's
// api/v2.0/swagger.yaml, and what is rejected from src/server/middleware/vulnerable.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { Project } from "./harbor-api.ts";
import type { SourcePolicy } from "./model.ts";

/** What a list of vulnerabilities that pass says. */
export interface Allowlist {
  /** Their ids; undefined when they cannot be read. */
  ids: string[] | undefined;
  /** Until when; undefined without an end. */
  endMs: number | undefined;
}

const SEVERITIES = ["critical", "high", "medium", "low", "negligible"];
const MAX_NAMED = 20;
const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
const DIFFERS =
  "as there, images wait until they are scanned; an index passes as long as one of its images does, and repos made later need a gate of their own";

/** Whether the project rejects vulnerable images. */
export function prevents({ metadata }: Project): boolean {
  return isTrue(metadata["prevent_vul"]);
}

/** Whether the list of the whole system counts for a project, and not its own. */
export function usesSystemAllowlist({ metadata }: Project): boolean {
  return (metadata["reuse_sys_cve_allowlist"] ?? "true") !== "false";
}

/** Harbor says yes as a text. */
export function isTrue(value: unknown): boolean {
  return value === "true" || value === true;
}

/** The list in an answer. */
export function allowlistIn(value: unknown): Allowlist {
  if (value === undefined || value === null) return { ids: [], endMs: undefined };
  const { items, expires_at: end } = isObject(value) ? value : {};
  const hasEnd = end !== undefined && end !== null;
  const isEnd = typeof end === "number" && Number.isSafeInteger(end) && Math.abs(end) < 1e11;
  const listed = items ?? [];
  const ids = isList(listed) ? listed.map((each) => (isObject(each) ? each["cve_id"] : undefined)) : [undefined];
  const isRead = isObject(value) && (!hasEnd || isEnd) && ids.every((id) => typeof id === "string" && ID.test(id));
  return { ids: isRead ? (ids as string[]) : undefined, endMs: isEnd ? end * 1000 : undefined };
}

/** The gate of each repository, and what the list that lets vulnerabilities pass becomes: nothing. */
export function* gatePolicies(
  project: Project,
  repos: readonly string[],
  allowlist: Allowlist,
  nowMs: number,
): Generator<SourcePolicy> {
  const source = `${project.name}: prevention of vulnerable images`;
  const named = project.metadata["severity"];
  const severity = typeof named === "string" ? named.toLowerCase() : "";
  if (!SEVERITIES.includes(severity))
    return yield { kind: "gate", source, below: project.name, fault: "names no severity that is known here" };
  const { ids, endMs } = allowlist;
  const isOver = endMs !== undefined && endMs <= nowMs;
  const lets = !isOver && ids?.length !== 0;
  const until = endMs === undefined ? "" : ` until ${new Date(endMs).toISOString()}`;
  if (lets)
    yield {
      kind: "setting",
      source: `${project.name}: list of allowed vulnerabilities`,
      below: project.name,
      fault: `${allowedText(ids)}${until}; here an advisory lets a vulnerability pass, for a component of an image`,
    };
  const notes = lets
    ? [`only previews: there a list of vulnerabilities passes${until}, and here none does`]
    : isOver && ids?.length !== 0
      ? [`the list of vulnerabilities that passed there ended at ${new Date(endMs).toISOString()}`]
      : [];
  const settings = {
    severity: `FINDING_SEVERITY_${severity.toUpperCase()}`,
    mode: lets ? "GATE_MODE_PREVIEW" : "GATE_MODE_ENFORCE",
  };
  for (const below of repos) {
    const short = below.slice(project.name.length + 1);
    yield { kind: "gate", source: `${source}, ${short}`, below, settings, notes: [...notes, DIFFERS] };
  }
}

function allowedText(ids: readonly string[] | undefined): string {
  if (ids === undefined) return "cannot be read";
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : "";
  return `lets pass ${ids.slice(0, MAX_NAMED).join(", ")}${more}`;
}

import { isObject } from "@moorage/kernel/lib/json";
import { jsonOf } from "./documents.ts";
import { objectAt, textAt } from "../records/fields.ts";
import { jsonMembers } from "./json-members.ts";
import type { Part } from "./parts.ts";
import { problemOf, type Read, recordOf, UnreadableRecord } from "../records/record.ts";
import { wordSeverity } from "../records/severity.ts";

// The longest entry of one vulnerability in one package, in characters; real ones have some thousands.
const MAX_ENTRY_LENGTH = 1 << 20;

/**
 * Reads the security tracker of Debian: `{source package: {vulnerability: {releases: {release: …}}}}`. A record is one
 * vulnerability in one source package; its body is the entry, with `package` and `id`. Source:
 * https://security-tracker.debian.org/tracker/data/json.
 */
export async function* debianRecords(part: Part): AsyncGenerator<Read> {
  for await (const { keys, text } of jsonMembers(part.bytes(), { atDepth: 2, maxLength: MAX_ENTRY_LENGTH })) {
    const [name = "", id = ""] = keys;
    try {
      if (text === undefined) throw new UnreadableRecord(`is longer than ${MAX_ENTRY_LENGTH} characters`);
      yield debianRecord(name, id, objectAt(jsonOf(text), "the entry"));
    } catch (error) {
      yield problemOf(error, keys.join("/"), keys.join("/"));
    }
  }
}

function debianRecord(name: string, id: string, entry: Record<string, unknown>): Read {
  const releases = Object.entries(objectAt(entry["releases"], "releases"));
  for (const [release, state] of releases)
    textAt(objectAt(state, `releases.${release}`)["status"], `releases.${release}.status`);
  return recordOf(
    {
      id: `${name}/${id}`,
      // The document has no times.
      modified: 0,
      aliases: [id],
      packages: releases.map(([release]) => ({ ecosystem: `Debian:${release}`, name })),
      severity: wordSeverity(...releases.map(([, state]) => isObject(state) && state["urgency"])),
      body: JSON.stringify({ ...entry, package: name, id }),
    },
    "the package and the id",
  );
}

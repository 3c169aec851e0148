import { LibraryChangeSchema } from "@moorage/api/messages";
import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { civilTime } from "@moorage/kernel/lib/timestamps";
import type { Row } from "@moorage/kernel/store";
import { ecosystemOf } from "../ecosystem/lookup.ts";

/** What happened to an artifact. */
interface LibraryChange {
  what: "published" | "fetched" | "changed" | "removed";
  /** The version; empty when it is not about one alone. */
  version: string;
  /** The names of the files that came or went. Defaults to none. */
  files?: readonly string[];
  /** What has changed: `tag`, `deprecated` or `yanked`. Defaults to none. */
  change?: string;
}

const MAX_FILES = 20;

/** Emits the event of a change and writes its audit entry. Source: docs/libraries.md, "Events". */
export async function noteChange(
  call: Call,
  { uid, parent, ecosystem, name }: Row<"artifacts">,
  { what, version, files = [], change = "" }: LibraryChange,
): Promise<void> {
  const { key } = ecosystemOf(ecosystem);
  const { nowMs, remoteAddress, userAgent } = call;
  call.emit(LibraryChangeSchema, {
    type: `libraries.version.${what}.v1`,
    subject: uid,
    group: parent,
    body: {
      artifact: uid,
      ecosystem: key,
      name,
      version,
      files: files.slice(0, MAX_FILES),
      change,
      when: civilTime(nowMs),
      remoteAddress,
      userAgent,
    },
  });
  await audit(call, {
    method: `libraries.version.${what}`,
    resource: uid,
    details: { ecosystem: key, name, ...(version !== "" && { version }), ...(change !== "" && { change }) },
  });
}

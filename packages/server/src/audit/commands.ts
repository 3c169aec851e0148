import type { Call, CallData } from "../core/call.ts";
import { command } from "../core/command.ts";
import { resolveRepository } from "../core/image-path.ts";
import { type Database, statement } from "../store/index.ts";
import { type AuditEvent, writeEntry } from "./entry.ts";

/** What was refused, with the call as it came. */
export interface Rejection extends AuditEvent {
  data: CallData;
  /**
   * Instead of a resource: `<organization>/<image…>`, as somebody called it. What of that path there is becomes the
   * resource.
   */
  repository?: string | undefined;
}

/** The most entries that one transaction writes or removes. */
export const ENTRIES_AT_ONCE = 200;

const selectGroup = statement("select uid from groups where uid = ?");
const selectNext = statement<{ organization: string }>(
  "select organization from audit_entries where organization > ? order by organization limit 1",
);
const removeOld = statement<{ uid: string }>(
  `delete from audit_entries where uid in (select uid from audit_entries where organization = ? and create_time < ? order by create_time, uid limit ${ENTRIES_AT_ONCE}) returning uid`,
);

/**
 * Writes refusals. An organization sees those of resources that are in it, existing or not; all others belong to none.
 */
export const noteRejections = command(
  "audit.noteRejections",
  async (call: Call, { rejections }: { rejections: Rejection[] }): Promise<void> => {
    for (const { data, repository, ...rejection } of rejections) {
      const { repo, group } = repository === undefined ? {} : await resolveRepository(call, repository);
      const resource = repo ?? group ?? rejection.resource;
      // A path of which nothing is here is none of ours.
      const details = { ...rejection.details, ...(repository !== undefined && group !== undefined && { repository }) };
      await writeEntry(
        call.tx,
        data,
        { ...rejection, resource, details, decision: rejection.decision ?? "denied" },
        await organizationOf(call.tx, resource),
      );
    }
  },
);

/** Removes some entries of an organization that are from before the time. `removed`: how many. */
export const expireEntries = command(
  "audit.expireEntries",
  async (
    call: Call,
    { organization, beforeMs }: { organization: string; beforeMs: number },
  ): Promise<{ removed: number }> => ({ removed: (await removeOld(call.tx, organization, beforeMs)).length }),
);

/** What the log is written and kept short by, outside of what other commands write. */
export const auditCommands = [expireEntries, noteRejections] as const;

/** The organizations that have entries: the first after the given one. Undefined: there is none. */
export async function nextOrganization(db: Database, after: string): Promise<string | undefined> {
  return (await selectNext(db, after))[0]?.organization;
}

async function organizationOf(tx: Database, resource: string): Promise<string> {
  const [organization = ""] = resource.split("/", 1);
  return organization !== "" && (await selectGroup(tx, organization)).length > 0 ? organization : "";
}

import type { Call, CallData } from "../core/call.ts";
import { command, whileFull } from "../core/command.ts";
import { resolveRepository } from "../core/image-path.ts";
import { type Database, statement } from "../store/index.ts";
import { type AuditEvent, writeEntry } from "./entry.ts";

/** A rejected request, with the data of its call. */
export interface Rejection extends AuditEvent {
  data: CallData;
  /**
   * Instead of a resource: `<organization>/<image…>`, as the client sent it. The repo of that path, or else the deepest
   * group that exists, becomes the resource.
   */
  repository?: string | undefined;
}

/** The most entries that one transaction writes or removes. */
export const ENTRIES_PER_TRANSACTION = 200;

const selectGroup = statement("select uid from groups where uid = ?");
const selectNext = statement<{ organization: string }>(
  "select organization from audit_entries where organization > ? order by organization limit 1",
);
const removeOld = statement<{ uid: string }>(
  `delete from audit_entries where uid in (select uid from audit_entries where organization = ? and create_time < ? order by create_time, uid limit ${ENTRIES_PER_TRANSACTION}) returning uid`,
);

/**
 * Writes rejections. An organization sees those of resources in it, existing or not; all others belong to no
 * organization.
 */
export const noteRejections = command(
  "audit.noteRejections",
  async (call: Call, { rejections }: { rejections: Rejection[] }): Promise<void> => {
    for (const { data, repository, ...rejection } of rejections) {
      const { repo, group } = repository === undefined ? {} : await resolveRepository(call, repository);
      const resource = repo ?? group ?? rejection.resource;
      // If no part of the path exists, it is not recorded.
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

/** Removes entries of an organization from before the time, at most `ENTRIES_PER_TRANSACTION`. `removed`: how many. */
export const expireEntries = command(
  "audit.expireEntries",
  async (
    call: Call,
    { organization, beforeMs }: { organization: string; beforeMs: number },
  ): Promise<{ removed: number }> => ({ removed: (await removeOld(call.tx, organization, beforeMs)).length }),
);

/** The commands of the audit log. Entries of successful methods are written by the commands of those methods. */
export const auditCommands = whileFull([expireEntries, noteRejections]);

/** The next organization, by uid, that has entries. Undefined when there are no more. */
export async function nextOrganization(db: Database, after: string): Promise<string | undefined> {
  return (await selectNext(db, after))[0]?.organization;
}

async function organizationOf(tx: Database, resource: string): Promise<string> {
  const [organization = ""] = resource.split("/", 1);
  return organization !== "" && (await selectGroup(tx, organization)).length > 0 ? organization : "";
}

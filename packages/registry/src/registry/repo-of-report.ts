import type { Capability } from "@moorage/api/messages";
import { sql } from "kysely";
import { within } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { pathOf, resolveRepository } from "@moorage/kernel/core/image-path";
import { invalidArgument } from "@moorage/kernel/errors";
import { isUid } from "@moorage/kernel/lib/uid";

/** How a repo is asked for in a report, and who may name it by its name alone. */
export interface RepoQuestion {
  /** The repo: its uid, its path as `acme/app`, or its name alone, when one repo alone has it that the caller sees. */
  name: string;
  /** The capabilities with which a caller sees a repo. */
  needs: readonly Capability[];
  /** The field of the request, as violations name it. */
  field: string;
}

/**
 * The uid of a repo as reports name it; undefined when there is none. Only a name alone is looked up with the caller's
 * rights: what a uid or a path names has to be checked. Throws INVALID_ARGUMENT for a name that several repos have
 * which the caller sees.
 */
export async function repoOfReport(call: Call, { name, needs, field }: RepoQuestion): Promise<string | undefined> {
  if (name.includes("/")) return isUid(name) ? name : (await resolveRepository(call, name)).repo;
  const visible = await call.visible(...needs);
  const { rows } = await sql<{
    uid: string;
  }>`select t.uid from repos as t where t.name = ${name} and ${within(visible)} order by t.uid limit 2`.execute(
    call.tx,
  );
  const [first, second] = rows;
  if (first === undefined || second === undefined) return first?.uid;
  const paths = [await pathOf(call.tx, first.uid), await pathOf(call.tx, second.uid)];
  throw invalidArgument({
    field,
    description: `must be a path: several repos have this name, as ${paths.join(" and ")}`,
  });
}

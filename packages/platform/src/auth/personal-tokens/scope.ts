import { Capability, type ListPersonalTokensRequest } from "@moorage/api/messages";
import { sql } from "kysely";
import { type Condition, type Scope, within } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { isUid } from "@moorage/kernel/lib/uid";
import { holdsOnOwn } from "../sign-ins-of.ts";

/**
 * The scope of a list of personal tokens: the caller's own, and those of people who signed in through identity
 * providers of groups in which the caller lists identities.
 */
export function visiblePeople(call: Call): (scope: Scope, request: ListPersonalTokensRequest) => Scope {
  return ({ roots }) => {
    const own = holdsOnOwn(call, Capability.CAP_IAM_IDENTITY_LIST) ? [sql`t.identity = ${call.caller.identity}`] : [];
    const others = roots.length === 0 ? [] : [ofPeopleIn(roots)];
    const all = [...own, ...others];
    return {
      roots: [],
      everywhere: true,
      conditions: [all.length === 0 ? sql`1 = 0` : sql`(${sql.join(all, sql` or `)})`],
    };
  };
}

/** Those of people who signed in through identity providers of the group or below it; all where it is empty. */
export function ofGroup(group: string): Condition[] {
  if (group === "") return [];
  return [isUid(group) ? ofPeopleIn([group]) : sql`1 = 0`];
}

function ofPeopleIn(groups: string[]): Condition {
  return sql`t.identity in (select i.uid from identities as i
    where i.provider <> '' and ${within(groups, sql`i.provider`)})`;
}

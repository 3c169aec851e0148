// Members of a registry that moves in, as what they would be here: a binding for who is here already, an invite for
// who is not, and a mapping for a group of an identity provider.
import { ApiFailure } from "../api/failure.ts";
import type { RestClient } from "../api/rest.ts";
import { lineOf } from "../command/failure.ts";
import type { Here } from "./here.ts";
import { EVERYBODY, type MemberRole, type Source, type SourceMember } from "./model.ts";
import type { PlanItem } from "./plan.ts";
import { openRights, type RightsHere } from "./rights-here.ts";

/** What members are planned with. */
interface MemberPlanning {
  kind: string;
  source: Source;
  into: string;
  rest: RestClient;
  here: Here;
  /** The issuer of the people there. */
  issuer: string | undefined;
}

type Item = Omit<PlanItem, "action" | "why">;

/** The items of the members of these repositories' projects, one for each role. */
export async function* memberItems(planning: MemberPlanning, repos: readonly string[]): AsyncGenerator<PlanItem> {
  const rights = openRights(planning.rest);
  for await (const member of planning.source.members?.(repos) ?? []) {
    const { source, fault, roles } = member;
    if (fault !== undefined) yield cannot(member, source, fault);
    else
      for (const role of roles)
        yield await itemOf(planning, rights, member, role).catch((error: unknown) => {
          // What the server says against one ends no other.
          if (!(error instanceof ApiFailure) || error.httpStatus === 401) throw error;
          return cannot(member, `${source}: ${role}`, lineOf(error));
        });
  }
}

function cannot({ kind }: SourceMember, source: string, why: string): PlanItem {
  return { kind: CANNOT_BE[kind], source, target: "", action: "cannot", why };
}

const CANNOT_BE = { group: "mapping", person: "binding", everybody: "public" } as const;

async function itemOf(
  { kind, into, here, issuer }: MemberPlanning,
  rights: RightsHere,
  member: SourceMember,
  role: MemberRole,
): Promise<PlanItem> {
  const target = `${into}/${member.below}`;
  const group = here.groups.get(target);
  // A group that is not here yet has the rights of those above it.
  const nearest = group ?? here.groups.get(into) ?? "";
  const base = { source: `${member.source}: ${role}`, target, role };
  const roleUid = await rights.roleUid(role);
  const planned = async (item: Item, why: string, isHere: (group: string) => Promise<boolean>): Promise<PlanItem> => {
    const isSame = group !== undefined && (await isHere(group));
    return { ...item, action: isSame ? "same" : "create", why: isSame ? "" : why };
  };
  if (member.kind === "everybody")
    return planned(
      { ...base, source: member.source, kind: "public", identity: EVERYBODY },
      "with --public, where the operator here allows public groups: everybody pulls all that is in the group without a log-in",
      (at) => rights.isBound({ group: at, role: roleUid, identity: EVERYBODY }),
    );
  if (member.kind === "group") {
    const { externalGroup = "" } = member;
    const found = await rights.providerOf(nearest, issuer);
    if ("fault" in found) return cannot(member, base.source, found.fault);
    const provider = found.uid;
    return planned({ ...base, kind: "mapping", provider, externalGroup }, "", (at) =>
      rights.isMapped({ group: at, role: roleUid, provider, externalGroup }),
    );
  }
  const identity = member.subject === undefined ? undefined : await rights.identityOf(member.subject, nearest);
  if (identity !== undefined)
    return planned({ ...base, kind: "binding", identity }, "", (at) =>
      rights.isBound({ group: at, role: roleUid, identity }),
    );
  // Quay says no subjects of people.
  const unknown =
    issuer === undefined && kind === "harbor"
      ? "without --issuer nobody is known here"
      : "nobody here is known as that person";
  const { email } = member;
  if (email === undefined) return cannot(member, base.source, `${unknown}, and there is no address for an invite`);
  return planned({ ...base, kind: "invite", email }, `with --secrets: ${unknown}`, async (at) => {
    const right = { group: at, role: roleUid, email };
    return (await rights.hasAddress(right)) || (await rights.isInvited(right));
  });
}

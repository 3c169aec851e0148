import type { DescMethod } from "@bufbuild/protobuf";
import {
  type Access,
  Capability,
  type ExplainAccessRequest,
  GroupSchema,
  IdentitySchema,
  PersonalTokenSchema,
  RegistryAction,
  RepoSchema,
  SessionSchema,
  TagSchema,
  type Transaction,
} from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { pathOf, type Resolved, resolveRepository } from "@moorage/kernel/core/image-path";
import { invalidArgument, type MoorageError, notFound } from "@moorage/kernel/errors";
import { isUid, parentOf } from "@moorage/kernel/lib/uid";
import { type AttemptedAction, isDigest, isRepositoryName, isTag } from "@moorage/registry/oci";
import { isOfInstallation } from "../of-installation.ts";

/** A method of the API, as the table of methods has it. */
export interface KnownMethod {
  desc: DescMethod;
  access: Access;
  transaction: Transaction;
}

export interface MethodQuestion {
  kind: "method";
  method: KnownMethod;
  /** The rule that decides: of a batch, that of the single method. */
  rule: Access;
  /** The uid that it is about; "" for none. */
  place: string;
  /** The uid as it was asked about: methods about the installation are decided on its first organization. */
  named: string;
  /**
   * Where rights on it are bound: of a person, its sessions and its personal tokens at the identity provider, of all
   * others at `place`.
   */
  home: string;
}

export interface ActionQuestion {
  kind: "action";
  attempted: AttemptedAction;
  resolved: Resolved;
  /** The uid of the repo, or of the innermost group of its path that exists; "" for none. */
  place: string;
  home: string;
}

export type Question = MethodQuestion | ActionQuestion;

const ACTIONS = {
  [RegistryAction.PULL]: "pull",
  [RegistryAction.PUSH]: "push",
  [RegistryAction.DELETE]: "delete",
} as const;

/**
 * What the request asks about. `first`: the uid of the installation's first organization. Throws INVALID_ARGUMENT that
 * names `method`, `action` or `resource`, and NOT_FOUND for the uid of a repo or tag that the caller does not see.
 */
export async function questionOf(
  call: Call,
  methods: ReadonlyMap<string, KnownMethod>,
  first: string,
  { operation, resource }: ExplainAccessRequest,
): Promise<Question> {
  if (operation.case === "method") return methodQuestion(call, methods, first, operation.value, resource);
  const action = ACTIONS[operation.value as keyof typeof ACTIONS] as AttemptedAction["action"] | undefined;
  if (operation.case === undefined || action === undefined)
    throw invalidArgument({ field: "action", description: "name a method, or an action such as REGISTRY_ACTION_PULL" });
  const attempted = { action, ...(isUid(resource) ? await imageOf(call, resource) : parseImage(resource)) };
  if (action === "delete" && attempted.reference === "") throw badResource("names no tag or digest to delete");
  const resolved = await resolveRepository(call, attempted.name);
  const place = resolved.repo ?? resolved.group ?? "";
  return { kind: "action", attempted, resolved, place, home: place };
}

async function methodQuestion(
  call: Call,
  methods: ReadonlyMap<string, KnownMethod>,
  first: string,
  name: string,
  resource: string,
): Promise<MethodQuestion> {
  const method = methodNamed(methods, name);
  const { name: own, parent } = method.desc;
  const rule = methods.get(`${parent.typeName}.${singleName(own)}`)?.access ?? method.access;
  if (resource !== "" && !isUid(resource)) throw badResource("must be a uid");
  const place = isOfInstallation(method) ? first : resource;
  return { kind: "method", method, rule, place, named: resource, home: await homeOf(call, rule, place) };
}

async function homeOf({ tx }: Call, { resource }: Access, place: string): Promise<string> {
  const isSignIn = resource === SessionSchema.typeName || resource === PersonalTokenSchema.typeName;
  if (resource !== IdentitySchema.typeName && !isSignIn) return place;
  const identity = isSignIn ? parentOf(place) : place;
  if (parentOf(identity) !== "") return identity;
  const row = await tx.selectFrom("identities").select("provider").where("uid", "=", identity).executeTakeFirst();
  return row?.provider || place;
}

/** The name of the method that a batch does several times, as CreateRoleBinding; the name of any other as it is. */
export function singleName(name: string): string {
  return name.replace(/^Batch(.*)s$/, "$1");
}

const MAX_SHOWN = 128;

function methodNamed(methods: ReadonlyMap<string, KnownMethod>, name: string): KnownMethod {
  const dotted = name.replace("/", ".");
  const found =
    methods.get(dotted) ?? [...methods].find(([full]) => full.endsWith(`.${dotted}`) && short(full) === dotted)?.[1];
  if (found !== undefined) return found;
  throw invalidArgument({
    field: "method",
    description: `there is no method ${JSON.stringify(name.slice(0, MAX_SHOWN))}; they are named as ReposService/GetRepo`,
  });
}

function short(full: string): string {
  return full.split(".").slice(-2).join(".");
}

/** `acme/app`, `acme/app:1.0` or `acme/app@sha256:…`; of a tag and a digest, the digest counts, as for clients. */
function parseImage(text: string): Omit<AttemptedAction, "action"> {
  const [before = "", digest] = text.split("@", 2);
  const cut = before.lastIndexOf(":");
  const [name, tag] = cut > before.lastIndexOf("/") ? [before.slice(0, cut), before.slice(cut + 1)] : [before];
  if (!isRepositoryName(name))
    throw badResource("must be an image such as acme/app:1.0, or the uid of a repo or a tag");
  if (tag !== undefined && !isTag(tag)) throw badResource("has a tag that is none");
  if (digest !== undefined && !isDigest(digest)) throw badResource("has a digest that is none");
  return { name, reference: digest ?? tag ?? "" };
}

async function imageOf(call: Call, uid: string): Promise<Omit<AttemptedAction, "action">> {
  const tag = await call.tx.selectFrom("tags").select(["name", "parent"]).where("uid", "=", uid).executeTakeFirst();
  const repo = tag === undefined ? uid : tag.parent;
  const see = tag === undefined ? Capability.CAP_REPO_LIST : Capability.CAP_TAG_LIST;
  const row = await call.tx.selectFrom("repos").select("uid").where("uid", "=", repo).executeTakeFirst();
  if (row === undefined || !(await call.may(see, uid)))
    throw notFound(tag === undefined ? RepoSchema.typeName : TagSchema.typeName, uid);
  return { name: await pathOf(call.tx, repo), reference: tag?.name ?? "" };
}

function badResource(description: string): MoorageError {
  return invalidArgument({ field: "resource", description });
}

/** The type of what the question is about, its name for an error, and the capability that shows that it exists. */
export function aboutOf(question: Question): { resource: string; name: string; see: Capability } {
  if (question.kind === "action")
    return { resource: RepoSchema.typeName, name: question.attempted.name, see: Capability.CAP_REPO_LIST };
  const { rule, named } = question;
  const see = rule.see || Capability.CAP_IAM_GROUPS_LIST;
  return { resource: rule.resource || GroupSchema.typeName, name: named, see };
}

/** The innermost group that the uid is in, or is. Undefined when there is none. */
export async function groupOf({ tx }: Call, uid: string): Promise<{ uid: string; name: string } | undefined> {
  const path: string[] = [];
  for (let at = uid; at !== ""; at = parentOf(at)) path.push(at);
  if (path.length === 0) return undefined;
  const rows = await tx.selectFrom("groups").select(["uid", "name"]).where("uid", "in", path).execute();
  return rows.toSorted((one, other) => other.uid.length - one.uid.length)[0];
}

import {
  AccessStep_Kind as Kind,
  type Access,
  ExposuresService,
  GroupInvitesService,
  PersonalTokensService,
  Transaction,
  UsageService,
} from "@moorage/api/messages";
import type { DescMethod } from "@bufbuild/protobuf";
import type { Call } from "@moorage/kernel/core/call";
import type { ServiceContext } from "@moorage/kernel/core/service";
import { Code, MoorageError, notFound, permissionDenied } from "@moorage/kernel/errors";
import { isWithin } from "@moorage/kernel/lib/uid";
import { authorize, requestAbout, requireMaker, resourceExists } from "@moorage/platform/auth";
import { requireTerms, requireWholeToken } from "@moorage/platform/iam";
import { requireEventsOf, requireReporter } from "@moorage/registry/registry";
import { type Attempt, attemptAction, type AttemptDeps } from "@moorage/registry/oci";
import { requireFeedReader } from "@moorage/security/security";
import { requireOperator } from "../../operations/operator.ts";
import { isOfInstallation } from "../of-installation.ts";
import { type ActionQuestion, type KnownMethod, type MethodQuestion, singleName } from "./question.ts";

type OwnCheck = (subject: Call, rule: Access, place: string) => Promise<void> | void;

/** What methods ask of their caller themselves, beside their access rule. */
const OWN_CHECKS: ReadonlyMap<DescMethod, OwnCheck> = new Map<DescMethod, OwnCheck>([
  [GroupInvitesService.method.acceptGroupInvite, requireWholeToken],
  [PersonalTokensService.method.createPersonalToken, requireMaker],
  [UsageService.method.reportUsage, requireReporter],
  [
    ExposuresService.method.listExposures,
    async (subject, { capabilities }, place) =>
      await requireEventsOf(subject, place === "" ? await subject.visible(...capabilities) : [place]),
  ],
]);

/** The real decision: the kinds of steps that it reached, of which the last one failed when there is an error. */
export interface Decision {
  reached: Kind[];
  error?: MoorageError;
  /** See Attempt. */
  unknown?: string;
  unsigned?: string;
}

/**
 * What the API would decide if the subject called the method about this uid: by the same checks as a call's, up to
 * where the method itself begins. Of a list it is whether it answers what is there.
 */
export async function decideMethod(
  subject: Call,
  { terms = [], admins = [], publicAdvisories = false, installation }: ServiceContext,
  { method, rule, place }: MethodQuestion,
): Promise<Decision> {
  const reached: Kind[] = [];
  try {
    reached.push(Kind.METHOD);
    const isAdmin = admins.includes(subject.caller.identity);
    // The rule of a batch is that of a single request, whose message has the field.
    const desc = rule === method.access ? method.desc : singleOf(method);
    await authorize(desc, rule, subject, requestAbout(desc, rule, place), isAdmin);
    await OWN_CHECKS.get(method.desc)?.(subject, rule, place);
    if (rule.anonymous) requireFeedReader(subject, publicAdvisories);
    if (isOfInstallation(method)) {
      await requireOperator(subject, installation?.organization, rule.capabilities[0]);
      return { reached };
    }
    const isOpen = rule.public || rule.authenticated || (rule.anonymous && subject.caller.identity === "");
    if (!isOpen && rule.scope === "") await requireListed(subject, rule, place);
    if (method.transaction === Transaction.WRITE && terms.some(({ blocks }) => blocks.includes(fullName(method)))) {
      reached.push(Kind.TERMS);
      await requireTerms(subject, terms, fullName(method), [place]);
    }
    if (!isOpen && rule.scope !== "" && place !== "") {
      reached.push(Kind.EXISTENCE);
      if (!(await resourceExists(subject, rule.resource, place))) throw notFound(rule.resource, place);
    }
    return { reached };
  } catch (error) {
    return { reached, error: rejectionIn(error) };
  }
}

/** What the registry would decide. */
export async function decideAction(subject: Call, deps: AttemptDeps, { attempted }: ActionQuestion): Promise<Decision> {
  const { parts, ...said } = await attemptAction(subject, deps, attempted);
  return { reached: parts.map((part) => KINDS[part]), ...said };
}

const KINDS: Record<Attempt["parts"][number], Kind> = {
  RIGHTS: Kind.CAPABILITY,
  EXISTENCE: Kind.EXISTENCE,
  SOURCE: Kind.EXISTENCE,
  POLICY: Kind.TAG_POLICY,
  TERMS: Kind.TERMS,
  GATE: Kind.GATE,
  SIGNATURE: Kind.SIGNATURE,
};

function singleOf({ desc }: KnownMethod) {
  return desc.parent.methods.find(({ name }) => name === singleName(desc.name)) ?? desc;
}

function fullName({ desc }: KnownMethod): string {
  return `${desc.parent.typeName}.${desc.name}`;
}

async function requireListed(subject: Call, { capabilities }: Access, place: string): Promise<void> {
  const groups = await subject.visible(...capabilities);
  if (place === "" ? groups.length > 0 : groups.some((group) => isWithin(place, group))) return;
  throw permissionDenied("the list has nothing there that the identity may list");
}

function rejectionIn(error: unknown): MoorageError {
  if (!(error instanceof MoorageError) || error.code === Code.Internal) throw error;
  return error;
}

import {
  AccessReasonSchema,
  AccessService,
  AccessStep_Outcome,
  CapabilitySchema,
  IdentitiesService,
  IdentitySchema,
  RegistryAction,
} from "@moorage/api/messages";
import { z } from "zod";
import { invalidArgument, notFound } from "@moorage/kernel/errors";
import { isUid } from "@moorage/kernel/lib/uid";
import { findGroup, findRepo } from "../find-resources.ts";
import { parseImageName } from "../image-names.ts";
import type { CallMethod } from "../method-calls.ts";
import { linesOf } from "../shared-schemas.ts";
import { defineTool } from "../tool.ts";

const ACTIONS = { pull: RegistryAction.PULL, push: RegistryAction.PUSH, delete: RegistryAction.DELETE } as const;

export const explainAccess = defineTool({
  name: "explain_access",
  description:
    "Says whether an identity may do something, each step that decides it, and what would have to change. Either an action of a registry client on an image, or a method of the API on a group, repo or other resource. About others it answers whoever may list role bindings there.",
  methods: [AccessService.method.explainAccess, IdentitiesService.method.listIdentities],
  input: z.object({
    identity: z
      .string()
      .max(400)
      .default("me")
      .describe("The uid or the name of an identity, `me`, or `anonymous` for whoever has no token."),
    action: z.enum(["pull", "push", "delete"]).optional().describe("What is done to the image; or else name a method."),
    method: z.string().max(200).optional().describe("A method of the API, as ReposService/GetRepo."),
    resource: z
      .string()
      .max(2000)
      .default("")
      .describe("For an action an image, as acme/app:1.0. For a method the path of a group or repo, or a uid."),
  }),
  output: z.object({
    allowed: z.boolean(),
    reason: z.string(),
    message: z.string(),
    identity: z.string().describe("The uid of the identity; empty for nobody."),
    steps: z.array(z.object({ outcome: z.enum(["passed", "failed", "not_applicable"]), message: z.string() })),
    missing: z.array(z.string()).describe("The capabilities that are needed and not held."),
    remedies: z.array(z.string()).describe("Changes after which the answer would be another one."),
  }),
  async run({ call, identity: caller, registryHost }, { identity, action, method, resource }) {
    if ((action === undefined) === (method === undefined))
      throw invalidArgument({ field: "action", description: "give either an action or a method" });
    const uid = identity === "me" ? caller : identity === "anonymous" ? "" : await findIdentity(call, identity);
    const place = action === undefined ? await placeOf(call, resource, registryHost) : imageOf(resource, registryHost);
    const found = await call(AccessService.method.explainAccess, {
      subject: identity === "anonymous" ? { case: "anonymous", value: true } : { case: "identity", value: uid },
      operation:
        action === undefined ? { case: "method", value: method ?? "" } : { case: "action", value: ACTIONS[action] },
      resource: place,
    });
    const steps = found.steps.map(({ outcome, message }) => ({ outcome: outcomeOf(outcome), message }));
    const remedies = found.remedies.map(({ message }) => message);
    return {
      answer: {
        allowed: found.allowed,
        reason: AccessReasonSchema.value[found.reason]?.name.replace("ACCESS_REASON_", "") ?? "UNSPECIFIED",
        message: found.message,
        identity: found.identity,
        steps,
        missing: found.missing.map((capability) => CapabilitySchema.value[capability]?.name ?? String(capability)),
        remedies,
      },
      text: linesOf([
        `${found.allowed ? "Allowed" : "Not allowed"}: ${found.message}`,
        ...steps.map(({ outcome, message }) => `- ${outcome}: ${message}`),
        ...remedies.map((message) => `What would help: ${message}`),
      ]),
      resource: isUid(place) ? place : "",
    };
  },
});

function imageOf(resource: string, registryHost: string): string {
  if (isUid(resource)) return resource;
  const { path, tag, digest } = parseImageName("resource", resource, registryHost);
  return `${path}${tag === "" ? "" : `:${tag}`}${digest === "" ? "" : `@${digest}`}`;
}

/** The uid of the resource that a method is about: that of a repo, or else of a group, where a path is given. */
async function placeOf(call: CallMethod, resource: string, registryHost: string): Promise<string> {
  if (resource === "" || isUid(resource)) return resource;
  if (!resource.includes("/")) return findGroup(call, resource);
  const { path } = parseImageName("resource", resource, registryHost);
  return findRepo(call, path).catch(async (error: unknown) =>
    findGroup(call, path).catch(() => {
      throw error;
    }),
  );
}

async function findIdentity(call: CallMethod, name: string): Promise<string> {
  if (isUid(name)) return name;
  const { identities } = await call(IdentitiesService.method.listIdentities, { name, pageSize: 2 });
  const [found, second] = identities;
  if (found === undefined) throw notFound(IdentitySchema.typeName, name);
  if (second !== undefined)
    throw invalidArgument({ field: "identity", description: "is the name of several identities: give the uid" });
  return found.uid;
}

function outcomeOf(outcome: AccessStep_Outcome): "passed" | "failed" | "not_applicable" {
  if (outcome === AccessStep_Outcome.PASSED) return "passed";
  return outcome === AccessStep_Outcome.FAILED ? "failed" : "not_applicable";
}

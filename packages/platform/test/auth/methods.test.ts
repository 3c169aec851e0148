import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type DescMethod, type DescService, getOption, hasOption } from "@bufbuild/protobuf";
import * as api from "@moorage/api";
import {
  access as accessOption,
  CapabilitySchema,
  OperationsService,
  PersonalTokensService,
  SecurityTokenService,
  transaction as transactionOption,
} from "@moorage/api";
import {
  type Callers,
  type Outcome,
  startCallers,
  testEveryMethod,
  type Who,
} from "../../../server/test/support/every-method.ts";
import { requestsOf } from "../../../server/test/support/requests.ts";

// Every method of every service of the API, by REST and gRPC, without a token, with invalid tokens, and with those of a
// stranger, a viewer and an owner.
let callers: Callers;
before(async () => {
  callers = await startCallers();
});
after(() => callers.platform.close());

const isListOf = ({ name }: DescMethod): boolean => name.startsWith("List");
const STRANGERS: readonly Who[] = ["stranger", "elsewhere", "narrowedAway", "narrowedElsewhere"];

/** The outcome by the method's own access rule. */
function expected(method: DescMethod, who: Who, { viewerCapabilities }: Callers): Outcome {
  const rule = getOption(method, accessOption);
  // The exchange reads the token itself: any valid token is exchanged for another. Only a refresh token can be
  // refreshed.
  if (method.parent.typeName === SecurityTokenService.typeName)
    return method.name === "Exchange" ? "ok" : "UNAUTHENTICATED";
  if (rule.public || who === "owner") return "ok";
  // Operators are those of the first organization; whether there is something is no secret.
  if (method.parent.typeName === OperationsService.typeName) return "PERMISSION_DENIED";
  // What feeds publish about products is for whoever is signed in.
  if (method.name === "GetPackageVersionMetadata") return "ok";
  // Whoever is signed in is answered how many it may list.
  if (method.name === "GetArtifactCount") return "ok";
  // Whoever is signed in may ask what it holds.
  if (method.name === "TestCapabilities") return "ok";
  // Only people make them, with tokens that are not narrowed, and these callers are machines.
  if (method.name === "CreatePersonalToken") return "PERMISSION_DENIED";
  // Those of the owner, who is in no organization, nobody else sees; a token that was narrowed elsewhere neither.
  if (method.parent.typeName === PersonalTokensService.typeName) return isListOf(method) ? "empty" : "NOT_FOUND";
  // It names images by their paths: those that a caller may not report are unknown, where it may report others.
  if (method.name === "ReportUsage")
    return who === "elsewhere" || who === "narrowedElsewhere" ? "ok" : "PERMISSION_DENIED";
  // A caller with the code is accepted, unless its rights cannot reach the group or its token is narrowed.
  if (method.name === "AcceptGroupInvite") return who === "stranger" || who === "viewer" ? "ok" : "PERMISSION_DENIED";
  // This one names its images, as a method does that is about one resource.
  const isList =
    /^(?:List|Search)/.test(method.name) && rule.scope === "" && method.name !== "ListResolvedVulnsReports";
  if (STRANGERS.includes(who)) return isList ? "empty" : "NOT_FOUND";
  // It takes the right to publish in the version's ecosystem as well.
  if (method.name === "UpdateArtifactVersion") return "PERMISSION_DENIED";
  // It names who pulled, and is never answered in part.
  if (method.name === "ListExposures") return "PERMISSION_DENIED";
  const held = rule.capabilities.every((capability) =>
    viewerCapabilities.includes(CapabilitySchema.value[capability]?.name ?? ""),
  );
  if (held && !rule.authenticated) return "ok";
  // A list about one group whose log the caller may not read.
  if (method.name === "ListAuditEntries") return "PERMISSION_DENIED";
  return isList ? "empty" : "PERMISSION_DENIED";
}

const services = Object.values<unknown>(api).filter(
  (value): value is DescService =>
    typeof value === "object" && value !== null && "kind" in value && value.kind === "service",
);

testEveryMethod(services, () => callers, {
  requests: ({ platform, place }) => requestsOf(platform, place),
  expected,
});

test("every service of the SDK is served by gRPC, and every method declares the transaction that fits its name", async () => {
  assert.ok(services.length >= 9);
  for (const method of services.flatMap((service) => service.methods)) {
    const reads = /^(?:Get|List|Lookup|Preview|Explain|Search|TestCapabilities|Watch)/.test(method.name);
    const outside = getOption(method, transactionOption) === api.Transaction.NONE;
    if (!outside)
      assert.equal(
        getOption(method, transactionOption),
        reads ? api.Transaction.READ : api.Transaction.WRITE,
        method.name,
      );
    // A request to sync or fetch now, to redeliver, or for a scan changes no resource. Versions of libraries have
    // events of their own, whoever changes them, and a report that images run changes none.
    const emitsEvent =
      getOption(method, transactionOption) === api.Transaction.WRITE &&
      !/^(?:Sync|Refresh|Redeliver|ReportUsage|ScanImage|(?:Delete|Update)Artifact(?!Polic))/.test(method.name);
    assert.equal(hasOption(method, api.event), emitsEvent, method.name);
  }
});

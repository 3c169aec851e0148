import { after, before } from "node:test";
import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { access as accessOption, CapabilitySchema } from "@moorage/api";
import { V1_SERVICES } from "../../src/v1/index.ts";
import { type Callers, type Outcome, startCallers, testEveryMethod, type Who } from "../support/every-method.ts";
import { v1RequestsOf } from "../support/v1/requests.ts";

// Every method of v1, by REST and gRPC, without a token, with invalid tokens, and with those of a stranger, a viewer
// and an owner.
let callers: Callers;
before(async () => {
  callers = await startCallers();
});
after(() => callers.platform.close());

const STRANGERS: readonly Who[] = ["stranger", "elsewhere", "narrowedAway", "narrowedElsewhere"];

/** The outcome by the method's own access rule, which has to be that of the methods of v2 it is made of. */
function expected(method: DescMethod, who: Who, { viewerCapabilities }: Callers): Outcome {
  const rule = getOption(method, accessOption);
  // What feeds publish about products is for whoever is signed in.
  if (who === "owner" || method.name === "GetPackageVersionMetadata") return "ok";
  // Whoever is signed in is answered how many it may list.
  if (method.name === "GetArtifactCount") return "ok";
  const isList = rule.scope === "" && (method.name.startsWith("List") || method.name === "GetRawVulnReport");
  if (STRANGERS.includes(who)) return isList ? "empty" : "NOT_FOUND";
  const isHeld = rule.capabilities.every((capability) =>
    viewerCapabilities.includes(CapabilitySchema.value[capability]?.name ?? ""),
  );
  return isHeld ? "ok" : isList ? "empty" : "PERMISSION_DENIED";
}

testEveryMethod(V1_SERVICES, () => callers, {
  requests: ({ platform, place }) => v1RequestsOf(platform, place),
  expected,
});

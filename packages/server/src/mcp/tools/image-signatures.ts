import {
  GateMode,
  SignatureOutcomeSchema,
  SignaturesService,
  SignatureStateSchema,
  TagsService,
} from "@moorage/api/messages";
import { z } from "zod";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { digestOf } from "../find-digest.ts";
import { findRepo } from "../find-resources.ts";
import { parseImageName, parseTime } from "../image-names.ts";
import { IMAGE, linesOf, timeText } from "../shared-schemas.ts";
import { defineTool } from "../tool.ts";

const SIGNATURE = z.object({
  state: z.string().describe("TRUSTED, UNTRUSTED, INVALID, EXPIRED, REVOKED, or WAITING to be verified."),
  signers: z.array(z.string()).describe("The names of the signers that have made it."),
  states: z.string().describe("`image` for a signature of the image; else the type of what an attestation states."),
  reason: z.string().describe("Why it is not trusted."),
  attach_time: z.string(),
  manifest: z.string(),
});

const POLICY = z.object({
  name: z.string(),
  enforced: z.boolean().describe("Whether it keeps images back; otherwise it is in preview."),
  outcome: z.string().describe("SIGNED and what else passes, or UNSIGNED, WAITING and UNKNOWN, which do not."),
  reason: z.string(),
});

export const imageSignatures = defineTool({
  name: "image_signatures",
  description:
    "Says who has signed an image, what for, and whether that holds; and for pulls now, what each signature policy makes of it, also when signatures were asked for as of a time.",
  methods: [
    SignaturesService.method.listImageSignatures,
    SignaturesService.method.getSignatureDecision,
    TagsService.method.listTagMoves,
  ],
  input: z.object({ image: IMAGE.describe("The image, as acme/team/app:1.2 or acme/team/app@sha256:….") }),
  output: z.object({
    image: z.string(),
    digest: z.string(),
    signatures: z.array(SIGNATURE),
    left_out: z.number().describe("How many more manifests with signatures are attached that were not looked at."),
    pending: z.boolean().describe("Whether something waits to be looked at or verified."),
    held: z.boolean().describe("Whether an enforced policy keeps it back from who may only pull."),
    policies: z.array(POLICY),
  }),
  async run({ call, registryHost }, { image }) {
    const name = parseImageName("image", image, registryHost);
    const repoUid = await findRepo(call, name.path);
    const digest = await digestOf(call, repoUid, name);
    const asOf = name.time === "" ? {} : { asOf: timestamp(parseTime("image", name.time)) };
    const found = await call(SignaturesService.method.listImageSignatures, { repoUid, digest, ...asOf });
    const decision = await call(SignaturesService.method.getSignatureDecision, { repoUid, digest });
    const signatures = found.signatures.map((each) => ({
      state: SignatureStateSchema.value[each.state]?.name.replace("SIGNATURE_STATE_", "") ?? "UNSPECIFIED",
      signers: each.verdicts
        .filter(({ state, fromTime }) => state === each.state && fromTime !== undefined)
        .map(({ signerName, signer }) => signerName || signer),
      states: each.predicateType || "image",
      reason: each.reason,
      attach_time: timeText(each.attachTime),
      manifest: each.manifest,
    }));
    const policies = decision.policies.map(({ name: policy, mode, outcome, reason }) => ({
      name: policy,
      enforced: mode === GateMode.ENFORCE,
      outcome: SignatureOutcomeSchema.value[outcome]?.name.replace("SIGNATURE_OUTCOME_", "") ?? "UNSPECIFIED",
      reason,
    }));
    const { leftOut, pending } = found;
    return {
      answer: { image, digest, signatures, left_out: leftOut, pending, held: decision.held, policies },
      text: linesOf([
        `${digest}: ${decision.held ? `blocked: ${decision.message}` : "no signature policy blocks it"}`,
        ...(signatures.length === 0 ? ["It has no signatures."] : []),
        ...signatures.map(
          ({ state, signers, states, reason }) =>
            `- ${state} ${states}${signers.length === 0 ? "" : ` by ${signers.join(", ")}`}${reason === "" ? "" : `: ${reason}`}`,
        ),
        ...(leftOut === 0 ? [] : [`${leftOut} more manifests with signatures were not looked at.`]),
        ...(pending ? ["Not all is known yet: something waits to be verified."] : []),
        ...policies.map(
          ({ name: policy, enforced, outcome, reason }) =>
            `Policy ${policy}${enforced ? "" : " (in preview)"}: ${outcome}${reason === "" ? "" : `: ${reason}`}`,
        ),
      ]),
      resource: repoUid,
    };
  },
});

import { GateMode, SignaturePoliciesService, SignersService } from "@moorage/api/messages";
import { z } from "zod";
import { findGroup } from "../find-resources.ts";
import { linesOf, NEXT_PAGE_TOKEN, PAGE_SIZE, PAGE_TOKEN } from "../shared-schemas.ts";
import { defineTool } from "../tool.ts";

const RULE = z.object({
  name: z.string(),
  signers: z.array(z.string()).describe("The names of the signers, or the uids of those that the caller does not see."),
  threshold: z.number().describe("How many different keys or identities must have signed."),
  states: z.string().describe("`image` for a signature of the image; else the type of what an attestation states."),
});

const POLICY = z.object({
  uid: z.string(),
  name: z.string(),
  enforced: z.boolean().describe("Whether it keeps images back; otherwise it is in preview."),
  repo_pattern: z.string().describe("Of which repos, an RE2 pattern; empty for all below its group."),
  tag_pattern: z.string().describe("Of which tags, an RE2 pattern; empty for all images."),
  rules: z.array(RULE),
  document_signers: z.array(z.string()).describe("Whose SBOMs and VEX documents count; empty where all do."),
});

export const listSignaturePolicies = defineTool({
  name: "list_signature_policies",
  description: "Lists the policies that say by whom the images of a group, and of all groups below it, must be signed.",
  methods: [SignaturePoliciesService.method.listSignaturePolicies, SignersService.method.listSigners],
  input: z.object({
    group: z.string().max(2000).default("").describe("The path of a group, as acme/team; empty for all that are seen."),
    page_size: PAGE_SIZE,
    page_token: PAGE_TOKEN,
  }),
  output: z.object({ policies: z.array(POLICY), next_page_token: NEXT_PAGE_TOKEN }),
  async run({ call }, { group, page_size: pageSize, page_token: pageToken }) {
    const uid = group === "" ? "" : await findGroup(call, group);
    const uidp = uid === "" ? {} : { uidp: { descendantsOf: uid } };
    const found = await call(SignaturePoliciesService.method.listSignaturePolicies, { ...uidp, pageSize, pageToken });
    const named = found.signaturePolicies.flatMap(({ rules, documentSigners }) => [
      ...rules.flatMap(({ signers }) => signers),
      ...documentSigners,
    ]);
    const names = new Map<string, string>();
    const uids = [...new Set(named)];
    for (let at = 0; at < uids.length; at += MAX_IDS) {
      const ids = uids.slice(at, at + MAX_IDS);
      const { signers } = await call(SignersService.method.listSigners, { uidp: { ids }, pageSize: MAX_IDS });
      for (const { uid, name } of signers) names.set(uid, name);
    }
    const namesOf = (signers: readonly string[]): string[] => signers.map((uid) => names.get(uid) ?? uid);
    const policies = found.signaturePolicies.map((each) => ({
      uid: each.uid,
      name: each.name,
      enforced: each.mode === GateMode.ENFORCE,
      repo_pattern: each.repoPattern,
      tag_pattern: each.tagPattern,
      rules: each.rules.map(({ name, signers, threshold, predicateType }) => ({
        name,
        signers: namesOf(signers),
        threshold: Math.max(1, threshold),
        states: predicateType || "image",
      })),
      document_signers: namesOf(each.documentSigners),
    }));
    const lines = policies.map(({ name, enforced, rules, document_signers: documents }) => {
      const asked = rules.map((rule) => `${rule.states} by ${rule.threshold} of ${rule.signers.join(", ")}`);
      if (documents.length > 0) asked.push(`documents by ${documents.join(", ")}`);
      return `${name} (${enforced ? "enforced" : "in preview"}): ${asked.join("; ")}`;
    });
    return {
      answer: { policies, next_page_token: found.nextPageToken },
      text: linesOf(
        lines.length === 0 ? ["There are no signature policies that you see."] : lines,
        found.nextPageToken,
      ),
      resource: uid,
    };
  },
});

const MAX_IDS = 200;

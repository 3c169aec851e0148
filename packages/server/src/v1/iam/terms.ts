import { GroupsService, TermsAcceptanceSchema, TermsService } from "@moorage/api/messages";
import { Terms, TermsDocumentStatusSchema, TermsListSchema } from "@moorage/api/v1/iam";
import { isStreamed } from "@moorage/kernel/core/streamed-answer";
import type { Method } from "../../runtime/methods.ts";
import { mapping } from "../mapping.ts";
import { translated } from "../service.ts";
import { itemsOf, listed } from "../v2.ts";

const accepted = mapping(TermsDocumentStatusSchema, TermsAcceptanceSchema, {
  docId: "docId",
  acceptedBy: "acceptedBy",
  acceptedAt: "createTime",
});

const { getGroup } = GroupsService.method;
const { acceptTerms, listTermsAcceptances } = TermsService.method;

/** moorage.iam.Terms. What the group's ancestors accepted is listed as well, because it holds for the group. */
export const terms: [string, Method][] = translated(Terms, [accepted], {
  async acceptTerms(v2, { group, documentIds }) {
    const answer = await v2.answer(acceptTerms, { group, documentIds });
    return { group: answer.group, documentIds: answer.documentIds };
  },
  async listAccepted(v2, { group }) {
    const pages = v2.pages(listTermsAcceptances, { group });
    const answer = await listed(TermsListSchema, pages, itemsOf(accepted, "termsAcceptances"));
    // Unlike v2, v1 has an error for a group that the caller does not see.
    if (!isStreamed(answer) && answer.items.length === 0) await v2.answer(getGroup, { uid: group });
    return answer;
  },
});

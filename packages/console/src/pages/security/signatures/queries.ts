import {
  listSignatureExemptions,
  listSignaturePolicies,
  listSigners,
  previewSignaturePolicy,
  type SignaturePolicyInput,
} from "../../../api/gen/registry.ts";
import { listQuery } from "../../../api/queries.ts";
import { allOf } from "../../access/parts/all-pages.ts";
import type { ListSearch } from "../../access/queries.ts";

const PAGE_SIZE = 100;

function paged({ group, order }: ListSearch) {
  return {
    pageSize: PAGE_SIZE,
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
    ...(order !== undefined && { orderBy: order }),
  };
}

/** The signers of a group and those below it. */
export const signersList = (search: ListSearch) => listQuery(listSigners, paged(search));
/** All signers that the person sees. */
export const allSignersQuery = allOf(listSigners, {}, ({ signers }) => signers);
/** The policies of a group and those below it. */
export const policiesList = (search: ListSearch) => listQuery(listSignaturePolicies, paged(search));
/** All policies that the person sees. */
export const allPoliciesQuery = allOf(listSignaturePolicies, {}, ({ signaturePolicies }) => signaturePolicies);
/** What passes a policy for some time. */
export const exemptionsList = (policy: string) =>
  listQuery(listSignatureExemptions, { uidp: { childrenOf: policy }, pageSize: PAGE_SIZE });

/** Which tags a policy would block now if it was enforced on the group. It changes nothing. */
export function previewQuery(parent: string, signaturePolicy: SignaturePolicyInput) {
  return listQuery(previewSignaturePolicy, { parent, signaturePolicy, pageSize: PAGE_SIZE });
}

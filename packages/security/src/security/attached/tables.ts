import type { Generated } from "kysely";
import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * Which manifest was attached to which digest of a repo, and when. `until_time`: null as long as it is. `via`:
     * empty for a referrer, the name of the tag, or the digest of the index that names both. `attached_by`: who pushed
     * or tagged it; empty when that is not known. `trusted`: 1 if that identity held CAP_ADVISORIES_CREATE on the
     * repo's group then; what is not trusted is a claim. `layers`:
     * which of its layers are signed as enforced policies ask, where not all count: their numbers, each between two
     * commas; empty for all. `asked`: what these policies were, see askedBy; empty for none. `recheck_time`: when that
     * may change by the time alone; null for never.
     */
    attachments: {
      repo: string;
      subject: string;
      manifest: string;
      via: string;
      from_time: number;
      until_time: number | null;
      attached_by: Generated<string>;
      trusted: Generated<number>;
      layers: Generated<string>;
      asked: Generated<string>;
      recheck_time: Generated<number | null>;
    };
    /**
     * The reading of an attached manifest as one about the subject, whatever the number of repos in which it is
     * attached. The columns are those of image_catalogs. What is read again has its packages with sources that end in
     * `/again`, and its statements with numbers of documents below 0, until all of it was read.
     */
    attached_readings: {
      subject: string;
      manifest: string;
      state: number;
      attempts: number;
      reason: string;
      holder: string;
      hold_until: number;
      create_time: number;
      finish_time: number | null;
      readers: Generated<number>;
      rereads: Generated<number>;
    };
    /**
     * What was read in a layer of an attached manifest. `n`: which layer, from 0. `kind`: `cyclonedx`, `spdx`,
     * `openvex` or `csaf`; empty when it is not known. `reason`: why it does not count; empty when it does. `time`:
     * when the document says it was made, in milliseconds since 1970; 0 when it says nothing. `packages`: the number of
     * its packages, which are in image_packages with the source `<manifest>/<n>`; `statements`: that of its rows in
     * attached_statements. `document_id` and `author` are those of a VEX document. `passed_over`: how many of its
     * statements are not among these, since they are about something else.
     */
    attached_documents: {
      subject: string;
      manifest: string;
      n: number;
      layer: string;
      media_type: string;
      kind: string;
      reason: string;
      time: number;
      packages: number;
      statements: number;
      document_id: string;
      author: string;
      passed_over: Generated<number>;
    };
    /**
     * What an attached VEX document says of vulnerabilities in the subject. `i` counts from 0 in the document. `ids`: a
     * JSON list in lower case. `target`: the purl of the package, empty for the whole image. `time`: of the statement,
     * in milliseconds since 1970. They hold in repos, and for as long, as the manifest is attached there.
     */
    attached_statements: {
      subject: string;
      manifest: string;
      n: number;
      i: number;
      ids: string;
      status: string;
      justification: string;
      impact: string;
      target: string;
      product: string;
      time: number;
      remedies: Generated<string>;
    };
    /**
     * By which references other documents link to the components of an attached CycloneDX document, where these are not
     * package URLs themselves. The document is that with the serial number `attached_documents.document_id`.
     */
    attached_refs: { subject: string; manifest: string; n: number; ref: string; purl: string };
    /**
     * The first of the statements of an attached document that are not about the subject or a package. `ids`: as those
     * of attached_statements. `product`: as the document names it. `reason`: in words.
     */
    attached_passed_over: {
      subject: string;
      manifest: string;
      n: number;
      i: number;
      ids: string;
      status: string;
      product: string;
      reason: string;
    };
  }
}

export const ATTACHED_TABLES = declareTables({
  attachments: { key: ["repo", "subject", "manifest", "from_time"] },
  attached_readings: { key: ["subject", "manifest"], weight: "length(reason)" },
  attached_documents: { key: ["subject", "manifest", "n"], weight: "length(reason)" },
  attached_statements: {
    key: ["subject", "manifest", "n", "i"],
    weight: "length(ids) + length(impact) + length(product)",
  },
  attached_refs: { key: ["subject", "manifest", "n", "ref"], weight: "length(purl)" },
  attached_passed_over: {
    key: ["subject", "manifest", "n", "i"],
    weight: "length(ids) + length(product) + length(reason)",
  },
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { UnreadableRecord } from "../records/record.ts";
import { csafDocument } from "./csaf.ts";

// Documents as the largest publishers write them, in short.

const DOCUMENT = {
  category: "csaf_vex",
  csaf_version: "2.0",
  publisher: { name: "Publisher" },
  tracking: { id: "ID-1", current_release_date: "2026-11-01T08:00:00Z" },
};

interface Tree {
  branches?: object[];
  relationships?: object[];
  product_groups?: object[];
}

const statementsOf = (tree: Tree, ...vulnerabilities: object[]) =>
  csafDocument({ document: DOCUMENT, product_tree: tree, vulnerabilities }).statements;
/** `status product component` of each. */
const said = (tree: Tree, ...vulnerabilities: object[]): string[] =>
  statementsOf(tree, ...vulnerabilities).map(({ status, product, component }) =>
    [status, product, component].filter(Boolean).join(" "),
  );
const branch = (id: string, helper?: { purl?: string; cpe?: string }): object => ({
  category: "product_version",
  name: id,
  product: { product_id: id, name: id, product_identification_helper: helper },
});
const related = (category: string, part: string, whole: string, id = `${whole}:${part}`): object => ({
  category,
  product_reference: part,
  relates_to_product_reference: whole,
  full_product_name: { product_id: id, name: `${part} as a component of ${whole}` },
});
const nested = (...products: object[]): object[] => [
  {
    category: "vendor",
    name: "Vendor",
    branches: [{ category: "product_family", name: "Family", branches: products }],
  },
];

test("Red Hat: packages of a release, source packages among them, by every kind of relationship to its CPE", () => {
  const rhel = { cpe: "cpe:/o:redhat:enterprise_linux:9" };
  const appstream = { cpe: "cpe:/a:redhat:rhel_eus:9.4::appstream" };
  const kinds = [
    "default_component_of",
    "external_component_of",
    "installed_on",
    "installed_with",
    "optional_component_of",
  ];
  for (const kind of kinds)
    assert.deepEqual(
      said(
        {
          branches: nested(
            branch("rhel-9", rhel),
            branch("eus", appstream),
            branch("openssl", { purl: "pkg:rpm/redhat/openssl?arch=src" }),
            branch("openssl-1:3.0.7-27.el9.x86_64", {
              purl: "pkg:rpm/redhat/openssl@3.0.7-27.el9?arch=x86_64&epoch=1",
            }),
          ),
          relationships: [related(kind, "openssl", "rhel-9"), related(kind, "openssl-1:3.0.7-27.el9.x86_64", "eus")],
        },
        {
          cve: "CVE-2026-1",
          product_status: {
            known_not_affected: ["rhel-9:openssl"],
            fixed: ["eus:openssl-1:3.0.7-27.el9.x86_64"],
          },
        },
      ),
      [
        "not_affected pkg:rpm/redhat/openssl?arch=src&distro=rhel-9",
        "fixed pkg:rpm/redhat/openssl@3.0.7-27.el9?arch=x86_64&distro=rhel-9.4&epoch=1",
      ],
      kind,
    );
});

test("Red Hat: what is said of one module says nothing of packages with the same name in another", () => {
  const tree = {
    branches: nested(
      branch("rhel-8", { cpe: "cpe:/o:redhat:enterprise_linux:8" }),
      branch("nodejs:18", { purl: "pkg:rpmmod/redhat/nodejs@18" }),
      branch("nodejs", { purl: "pkg:rpm/redhat/nodejs?arch=src" }),
      branch("nodejs-mod", { purl: "pkg:rpm/redhat/nodejs?arch=src&rpmmod=nodejs:18" }),
    ),
    relationships: [
      // The outer one stands first.
      related("default_component_of", "nodejs:18/nodejs", "rhel-8", "rhel-8:nodejs:18/nodejs"),
      related("default_component_of", "nodejs", "nodejs:18", "nodejs:18/nodejs"),
      related("default_component_of", "nodejs-mod", "rhel-8"),
    ],
  };
  const found = statementsOf(tree, {
    cve: "CVE-2026-1",
    product_status: { known_not_affected: ["rhel-8:nodejs:18/nodejs", "rhel-8:nodejs-mod"] },
  });
  assert.deepEqual(
    found.map(({ product }) => product),
    ["rhel-8", "rhel-8"],
  );
});

test("SUSE: names with version, release and architecture, service packs, and versions that are recommended", () => {
  const tree = {
    branches: nested(
      branch("SLES 15 SP5", { cpe: "cpe:/o:suse:sles:15:sp5" }),
      branch("Basesystem 15 SP5", { cpe: "cpe:2.3:o:suse:sle-module-basesystem:15:sp5:*:*:*:*:*:*" }),
      branch("Leap 15.6", { cpe: "cpe:/o:opensuse:leap:15.6" }),
      branch("Tumbleweed", { cpe: "cpe:/o:opensuse:tumbleweed" }),
      branch("libopenssl3-3.0.8-150500.5.57.1.x86_64"),
      branch("openssl-3"),
    ),
    relationships: [
      related("default_component_of", "libopenssl3-3.0.8-150500.5.57.1.x86_64", "Basesystem 15 SP5"),
      related("default_component_of", "openssl-3", "SLES 15 SP5"),
      related("default_component_of", "openssl-3", "Leap 15.6"),
      related("default_component_of", "openssl-3", "Tumbleweed"),
    ],
  };
  assert.deepEqual(
    said(tree, {
      cve: "CVE-2026-1",
      product_status: {
        recommended: ["Basesystem 15 SP5:libopenssl3-3.0.8-150500.5.57.1.x86_64", "SLES 15 SP5:openssl-3"],
        known_not_affected: ["SLES 15 SP5:openssl-3", "Leap 15.6:openssl-3", "Tumbleweed:openssl-3"],
      },
    }),
    [
      "not_affected pkg:rpm/suse/openssl-3?distro=sles-15.5",
      "not_affected pkg:rpm/opensuse/openssl-3?distro=opensuse-leap-15.6",
      "not_affected pkg:rpm/opensuse/openssl-3?distro=opensuse-tumbleweed",
      "fixed pkg:rpm/suse/libopenssl3@3.0.8-150500.5.57.1?arch=x86_64&distro=sles-15.5",
      "fixed pkg:rpm/suse/openssl-3?distro=sles-15.5 without a version",
    ],
  );
});

test("Cisco, Siemens, Microsoft: advisories whose products have no package URL are read, and decide nothing", () => {
  const tree = {
    branches: nested(
      branch("CSAFPID-1", { cpe: "cpe:2.3:o:microsoft:windows_server_2022:*:*:*:*:*:*:x64:*" }),
      branch("CSAFPID-2"),
      branch("KB5030216"),
    ),
    relationships: [related("installed_on", "KB5030216", "CSAFPID-1")],
    product_groups: [{ group_id: "CSAFGID-1", product_ids: ["CSAFPID-1", "CSAFPID-2"] }],
  };
  const document = csafDocument({
    document: { ...DOCUMENT, category: "csaf_security_advisory" },
    product_tree: tree,
    vulnerabilities: [
      {
        title: "without an id",
        product_status: { known_affected: ["CSAFPID-2", "not in the tree"], fixed: ["CSAFPID-1:KB5030216"] },
        remediations: [
          { category: "vendor_fix", details: "Update to V2.1", url: "https://example.com/2", group_ids: ["CSAFGID-1"] },
          { category: "no_fix_planned", details: "None is planned.", product_ids: ["CSAFPID-2"] },
          { category: "unknown", details: "?", product_ids: ["CSAFPID-2"] },
        ],
      },
      { cve: "CVE-2026-2" },
    ],
  });
  assert.deepEqual(
    document.statements.map(({ ids, status, product, component, remedies }) => [
      ids.length,
      status,
      product,
      component,
      remedies.map(({ category, url }) => `${category} ${url}`.trim()),
    ]),
    [
      [0, "fixed", "CSAFPID-1", "KB5030216", []],
      [0, "affected", "CSAFPID-2", "", ["vendor_fix https://example.com/2", "no_fix_planned"]],
      [0, "affected", "not in the tree", "", []],
    ],
  );
});

test("relationships that go in a circle, and chains of thousands, end", () => {
  const ids = Array.from({ length: 5_000 }, (_, at) => `p${at}`);
  const chain = ids.slice(1).map((id, at) => related("default_component_of", `p${at}`, "x", id));
  const circle = [related("installed_on", "b", "a", "a"), related("installed_on", "a", "b", "b")];
  const found = said(
    { branches: [branch("p0"), branch("x")], relationships: [...chain.toReversed(), ...circle] },
    { cve: "CVE-2026-1", product_status: { known_affected: ["a", "b", "p1"] } },
  );
  assert.deepEqual(found, ["affected a", "affected b", "affected x p0"]);
});

test("groups that come to too many products in all are refused before they are written out", () => {
  const ids = Array.from({ length: 10_000 }, (_, n) => `p${n}`);
  const tree = { product_groups: [{ group_id: "all", product_ids: ids }] };
  const documentOf = (references: number): (() => unknown) => {
    const remediations = Array.from({ length: references }, (_, n) => ({
      category: "vendor_fix",
      details: `update ${n}`,
      group_ids: ["all"],
    }));
    return () => statementsOf(tree, { cve: "CVE-2026-1", product_status: { known_affected: ["p1"] }, remediations });
  };
  assert.deepEqual((documentOf(99)() as { remedies: object[] }[])[0]?.remedies.length, 4);
  assert.throws(documentOf(101), (error: Error) => {
    assert.ok(error instanceof UnreadableRecord);
    assert.equal(
      error.message,
      "vulnerabilities: their notes name more than 1000000 products in all, with those of groups",
    );
    return true;
  });
});

test("branches may be as many as a document has", () => {
  const branches = [...Array.from({ length: 300_000 }, () => ({})), branch("p", { purl: "pkg:npm/a@1" })];
  const [found] = statementsOf({ branches }, { cve: "CVE-2026-1", product_status: { known_affected: ["p"] } });
  assert.equal(found?.product, "pkg:npm/a@1");
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { temporaryFolder } from "../../../server/test/support/installation.ts";
import { startPlatform } from "../../../server/test/support/platform.ts";

// The packages of the machine's own Debian, as an image, against what trivy-cdxgen finds in the same files.

/** The program; `.ci/compare.sh` brings it. */
const TRIVY = process.env["MOORAGE_TEST_TRIVY"] ?? "";
const FILES = ["/etc/os-release", "/etc/debian_version", "/var/lib/dpkg/status"];
const skip =
  TRIVY === "" || !FILES.every((file) => existsSync(file))
    ? "set MOORAGE_TEST_TRIVY to the path of trivy-cdxgen, on a Debian machine"
    : false;

interface Component {
  type: string;
  name: string;
  version: string;
  properties?: { name: string; value: string }[];
}
interface Document {
  components: Component[];
}

const valueOf = ({ properties = [] }: Component, name: string): string =>
  properties.find((each) => each.name === name)?.value ?? "";

/** `name version source source-version`. */
const theirs = (component: Component): string => {
  const part = (name: string): string => valueOf(component, `aquasecurity:trivy:Src${name}`);
  const [epoch, release] = [part("Epoch"), part("Release")];
  const source = `${epoch === "" ? "" : `${epoch}:`}${part("Version")}${release === "" ? "" : `-${release}`}`;
  return `${component.name} ${component.version} ${part("Name")} ${source}`;
};
const ours = (component: Component): string => {
  const source = valueOf(component, "moorage:source") || `${component.name}@${component.version}`;
  const at = source.lastIndexOf("@");
  return `${component.name} ${component.version} ${source.slice(0, at)} ${source.slice(at + 1)}`;
};

test(
  "each package of a Debian root has the version and the source that Trivy finds",
  { skip, timeout: 300_000 },
  async (t) => {
    const files = FILES.map((file) => ({ path: file.slice(1), content: readFileSync(file) }));
    const root = temporaryFolder(t);
    for (const { path: file, content } of files) {
      mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(root, file), content);
    }
    const output = path.join(temporaryFolder(t), "trivy.json");
    execFileSync(TRIVY, ["--quiet", "--cache-dir", temporaryFolder(t), "rootfs", "--output", output, root], {
      timeout: 120_000,
    });
    const { components } = JSON.parse(readFileSync(output, "utf8")) as Document;
    const packages = components.filter((each) => valueOf(each, "aquasecurity:trivy:PkgType") === "debian");

    const platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
    t.after(() => platform.close());
    const { url, owner, bootstrap, organization } = platform;
    const { uid: repo } = await platform.repo(organization, { name: "debian" });
    const token = await platform.token(owner, { audience: new URL(url).host });
    const name = `${bootstrap.organization.name}/debian`;
    const digest = await pushLayers({ url, token, name }, "v1", [tarOf(files)]);
    const bearer = { token: await platform.token() };
    const sbom = `/registry/v2/repos/${repo}/digests/${digest}/sbom`;
    const found = await eventually(async () => {
      const { status, body, text } = await platform.call("GET", sbom, bearer);
      if (status === 200) return (body["document"] as Document).components;
      assert.match(text, /waits to be read/);
      return undefined;
    });
    t.diagnostic(`${found.length} packages`);
    assert.ok(packages.length > 50);
    assert.deepEqual(found.map(ours).toSorted(), packages.map(theirs).toSorted());
  },
);

import assert from "node:assert/strict";
import { test } from "node:test";
import { distributionOf, normalizedVersion } from "./filenames.ts";
import { isProjectName, normalizedName } from "./names.ts";

test("names of a project in all their spellings are one", () => {
  for (const name of ["My-Project", "my_project", "MY.PROJECT", "my-._project"])
    assert.equal(normalizedName(name), "my-project");
});

test("what pip could not ask for is no name", () => {
  for (const name of ["a", "A1", "zope.interface", "typing_extensions"]) assert.equal(isProjectName(name), true, name);
  for (const name of ["", ".", "..", "-a", "a-", "a/b", "a b", "ä", "а", "a\n", "a".repeat(129)])
    assert.equal(isProjectName(name), false, name);
});

test("file names say the version, for the project alone", () => {
  const cases: [string, string, string | undefined][] = [
    ["requests-2.32.3-py3-none-any.whl", "requests", "2.32.3"],
    ["numpy-2.1.0-1-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "numpy", "2.1.0"],
    ["my_project-1!1.0+local.1-py3-none-any.whl", "my-project", "1!1.0+local.1"],
    ["requests-2.32.3.tar.gz", "requests", "2.32.3"],
    ["zope.interface-5.0.tar.gz", "zope-interface", "5.0"],
    // From before PEP 625: the project's name has hyphens.
    ["my-project-1.0.zip", "my-project", "1.0"],
    ["requests-2.32.3-py3-none-any.whl", "request", undefined],
    ["requests-evil-2.32.3.tar.gz", "requests", undefined],
    ["requests-x.tar.gz", "requests", undefined],
    ["requests-1.0.tar.bz2", "requests", undefined],
    ["requests-1.0.exe", "requests", undefined],
    ["../requests-1.0.tar.gz", "requests", undefined],
    ["requests-1.0-py3-none.whl", "requests", undefined],
    ["requests-1.0\n.tar.gz", "requests", undefined],
  ];
  for (const [filename, project, version] of cases)
    assert.equal(distributionOf(filename, project)?.version, version, filename);
});

test("equal versions are equal texts", () => {
  const cases: [string, string][] = [
    ["1.0-RC.1", "1.0rc1"],
    ["v1.0", "1.0"],
    ["1.0+Ubuntu-1", "1.0+ubuntu.1"],
    ["1!2.0.post1.dev3", "1!2.0.post1.dev3"],
  ];
  for (const [given, normalized] of cases) assert.equal(normalizedVersion(given), normalized);
});

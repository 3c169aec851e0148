import assert from "node:assert/strict";
import { test } from "node:test";
import parseExpression from "spdx-expression-parse";
import { licenseOf } from "./licenses.ts";

const named = (name: string, url = ""): { name: string; url: string } => ({ name, url });

test("a licence is named by its SPDX id, by its name or its URL", () => {
  const cases: [string, string, string][] = [
    ["Apache-2.0", "", "Apache-2.0"],
    ["The Apache Software License, Version 2.0", "", "Apache-2.0"],
    ["ASF", "https://www.apache.org/licenses/LICENSE-2.0.txt", "Apache-2.0"],
    ["The MIT License", "", "MIT"],
    ["BSD 3-Clause", "", "BSD-3-Clause"],
    ["BSD License 3", "", "BSD-3-Clause"],
    ["Eclipse Public License - v 1.0", "http://www.eclipse.org/legal/epl-v10.html", "EPL-1.0"],
    [
      "GNU General Public License (GPL), version 2, with the Classpath exception",
      "",
      "GPL-2.0-only WITH Classpath-exception-2.0",
    ],
    ["Of the company", "", "Of the company"],
    ["Example licence", "", "Example licence"],
    ["", "https://example.com/license", "https://example.com/license"],
  ];
  for (const [name, url, id] of cases) assert.equal(licenseOf([named(name, url)]), id, name);
  assert.equal(licenseOf([]), "");
  assert.equal(licenseOf([named("")]), "");
});

test("of several the user has the choice", () => {
  const two = licenseOf([named("Eclipse Public License - v 1.0"), named("Of the company, (c) 1999")]);
  assert.equal(two, "EPL-1.0 OR LicenseRef-Of-the-company-c-1999");
  assert.doesNotThrow(() => parseExpression(two));
  assert.equal(licenseOf([named("MIT"), named("The MIT License")]), "MIT");
  const dual = licenseOf([named("CDDL + GPLv2 with classpath exception"), named("MIT")]);
  assert.doesNotThrow(() => parseExpression(dual), dual);
});

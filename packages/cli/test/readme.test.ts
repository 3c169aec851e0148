// The documents that a newcomer reads first; docs.test.ts runs the others.
import { testDocuments } from "./documents.ts";

testDocuments(["README.md", "docs/tutorial.md"]);

// The documents that a newcomer reads first; docs.*.ts run the others.
import { testDocuments } from "./documents.ts";

testDocuments(["README.md", "docs/tutorial.md"]);

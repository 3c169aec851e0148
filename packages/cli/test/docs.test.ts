// The guides in docs/, except those that `npm test` runs (readme.test.ts). The documents of the API and the page of all
// commands have files of their own, so that they run at the same time.
import { testDocuments } from "./documents.ts";

testDocuments(["docs/!(tutorial).md"]);

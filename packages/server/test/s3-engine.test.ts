import { openS3Blobs } from "../src/blobs/s3.ts";
import { blobStoreSuite } from "../src/blobs/suite.ts";
import { NO_S3, s3Url } from "./support/s3.ts";

// Without a server s3.test.ts says how to have one.
if (NO_S3 === false) {
  blobStoreSuite("S3", {
    async open() {
      const url = s3Url();
      return { store: await openS3Blobs(url), reopen: () => openS3Blobs(url) };
    },
  });
}

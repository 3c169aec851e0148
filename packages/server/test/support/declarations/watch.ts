// Imported before everything else: this process, and the servers that it starts, watch which rows commands touch.
process.env["MOORAGE_TEST_DECLARATIONS"] = "1";

// Written by `npm run generate` out of proto/: change it there.

/** Every type of events without the prefix of an installation, and what it means. */
export const EVENT_TYPES: readonly { readonly type: string; readonly help: string }[] = [
  {
    "type": "advisory.created.v1",
    "help": "Makes an advisory in a group, with its first events if there are any."
  },
  {
    "type": "advisory.deleted.v1",
    "help": "Takes an advisory back."
  },
  {
    "type": "advisory.event.created.v1",
    "help": "Adds an event to an advisory."
  },
  {
    "type": "advisory.event.updated.v1",
    "help": "Reviews an event, or changes one that waits for its review."
  },
  {
    "type": "advisory.updated.v1",
    "help": "Changes the fields named in the mask."
  },
  {
    "type": "api.auth.registered.v1",
    "help": "A person signed in through an identity provider of the group, for the first time (registered) or again (signed_in)."
  },
  {
    "type": "api.auth.signed_in.v1",
    "help": "A person signed in through an identity provider of the group, for the first time (registered) or again (signed_in)."
  },
  {
    "type": "api.events.subscription.created.v1",
    "help": "Makes a subscription, of which a group has at most 100."
  },
  {
    "type": "api.events.subscription.deleted.v1",
    "help": "Ends the subscription."
  },
  {
    "type": "api.events.subscription.updated.v1",
    "help": "Keeps events for the subscription without sending them. ResumeSubscription sends again, what waited first; also after the sink had the subscription disabled. RotateSubscriptionSecret makes a new secret, which only this answer has."
  },
  {
    "type": "api.iam.account_associations.created.v1",
    "help": "Makes the one association of a group."
  },
  {
    "type": "api.iam.account_associations.deleted.v1",
    "help": "Takes the association from its group."
  },
  {
    "type": "api.iam.account_associations.updated.v1",
    "help": "Changes the fields named in the mask."
  },
  {
    "type": "api.iam.external_group_role_mappings.created.v1",
    "help": "Makes a mapping below a provider."
  },
  {
    "type": "api.iam.external_group_role_mappings.deleted.batch.v1",
    "help": "Deletes several mappings of one provider, and answers those it deleted: names of mappings that are gone are passed over."
  },
  {
    "type": "api.iam.external_group_role_mappings.deleted.v1",
    "help": "Takes the role away, from the next request on."
  },
  {
    "type": "api.iam.external_group_role_mappings.updated.v1",
    "help": "Changes the role or where it applies, for all who are in the group at their next request."
  },
  {
    "type": "api.iam.group.created.v1",
    "help": "Makes a group below its parent; without one, an organization, which only administrators may."
  },
  {
    "type": "api.iam.group.deleted.v1",
    "help": "Removes a group that has nothing left below it."
  },
  {
    "type": "api.iam.group.updated.v1",
    "help": "Changes the fields named in the mask."
  },
  {
    "type": "api.iam.group_invite.accepted.v1",
    "help": "Somebody accepted an invite, and got its role."
  },
  {
    "type": "api.iam.group_invite.created.v1",
    "help": "Makes a code that gives a role on the group."
  },
  {
    "type": "api.iam.group_invite.deleted.v1",
    "help": "Ends the invite immediately."
  },
  {
    "type": "api.iam.group_invite.updated.v1",
    "help": "Changes for whom the invite is and how often it is good."
  },
  {
    "type": "api.iam.identity.created.v1",
    "help": "Makes an identity in a group."
  },
  {
    "type": "api.iam.identity.deleted.v1",
    "help": "Removes an identity, its role bindings, sessions and refresh tokens."
  },
  {
    "type": "api.iam.identity.updated.v1",
    "help": "Changes the fields named in the mask."
  },
  {
    "type": "api.iam.identity_providers.created.v1",
    "help": "Makes a provider."
  },
  {
    "type": "api.iam.identity_providers.deleted.v1",
    "help": "Removes a provider that has no mappings."
  },
  {
    "type": "api.iam.identity_providers.updated.v1",
    "help": "Changes the fields named in the mask."
  },
  {
    "type": "api.iam.personaltokens.created.v1",
    "help": "Makes a token of the person who calls."
  },
  {
    "type": "api.iam.personaltokens.deleted.v1",
    "help": "Revokes the token: neither it nor what it was exchanged for is accepted from the next request on."
  },
  {
    "type": "api.iam.rolebindings.created.batch.v1",
    "help": "Makes several bindings, or none."
  },
  {
    "type": "api.iam.rolebindings.created.v1",
    "help": "Gives an identity a role on a group and everything below it."
  },
  {
    "type": "api.iam.rolebindings.deleted.v1",
    "help": "Takes the role away again, from the next request on."
  },
  {
    "type": "api.iam.rolebindings.updated.v1",
    "help": "Changes the fields named in the mask."
  },
  {
    "type": "api.iam.roles.created.v1",
    "help": "Makes a custom role in a group, out of capabilities the caller holds there."
  },
  {
    "type": "api.iam.roles.deleted.v1",
    "help": "Removes a role that nothing refers to."
  },
  {
    "type": "api.iam.roles.updated.v1",
    "help": "Changes the fields named in the mask."
  },
  {
    "type": "api.iam.session.deleted.v1",
    "help": "Ends the session immediately."
  },
  {
    "type": "api.iam.terms.accepted.v1",
    "help": "Accepts documents for a group and everything below it."
  },
  {
    "type": "api.platform.registry.repo.created.v1",
    "help": "Makes a repo in a group."
  },
  {
    "type": "api.platform.registry.repo.deleted.v1",
    "help": "A repo is gone, with its tags and manifests."
  },
  {
    "type": "api.platform.registry.repo.updated.v1",
    "help": "Changes the fields named in the mask. UpdateRepoReadme replaces the readme."
  },
  {
    "type": "api.platform.registry.tag.created.v1",
    "help": "A tag was made, came to point to another digest, was changed otherwise, or was deleted."
  },
  {
    "type": "api.platform.registry.tag.deleted.v1",
    "help": "A tag was made, came to point to another digest, was changed otherwise, or was deleted."
  },
  {
    "type": "api.platform.registry.tag.updated.v1",
    "help": "A tag was made, came to point to another digest, was changed otherwise, or was deleted."
  },
  {
    "type": "artifact_policy.created.v1",
    "help": "Gives a group a policy, one at most for each ecosystem."
  },
  {
    "type": "artifact_policy.deleted.v1",
    "help": "Ends the policy."
  },
  {
    "type": "artifact_policy.updated.v1",
    "help": "Changes the fields named in the mask."
  },
  {
    "type": "events.test.v1",
    "help": "A test event was requested for a subscription."
  },
  {
    "type": "feed.created.v1",
    "help": "A feed of security data of the installation was added (created), set otherwise (updated), or is removed (deleted). It belongs to the installation's first organization."
  },
  {
    "type": "feed.deleted.v1",
    "help": "A feed of security data of the installation was added (created), set otherwise (updated), or is removed (deleted). It belongs to the installation's first organization."
  },
  {
    "type": "feed.updated.v1",
    "help": "A feed of security data of the installation was added (created), set otherwise (updated), or is removed (deleted). It belongs to the installation's first organization."
  },
  {
    "type": "libraries.version.blocked.v1",
    "help": "An identity did not get a version of a library, or would not have got it, for the first time."
  },
  {
    "type": "libraries.version.changed.v1",
    "help": "A version of a library came into a group (published) or a file of one from its upstream (fetched), was deprecated or yanked, or got or lost a tag (changed), or was taken back by whoever published it (removed)."
  },
  {
    "type": "libraries.version.fetched.v1",
    "help": "A version of a library came into a group (published) or a file of one from its upstream (fetched), was deprecated or yanked, or got or lost a tag (changed), or was taken back by whoever published it (removed)."
  },
  {
    "type": "libraries.version.published.v1",
    "help": "A version of a library came into a group (published) or a file of one from its upstream (fetched), was deprecated or yanked, or got or lost a tag (changed), or was taken back by whoever published it (removed)."
  },
  {
    "type": "libraries.version.removed.v1",
    "help": "A version of a library came into a group (published) or a file of one from its upstream (fetched), was deprecated or yanked, or got or lost a tag (changed), or was taken back by whoever published it (removed)."
  },
  {
    "type": "registry.collect.v1",
    "help": "Garbage collection removed content of a repo that nothing needed."
  },
  {
    "type": "registry.delete.v1",
    "help": "Content was deleted from a repo, by its digest. Tags that go along have events of their own."
  },
  {
    "type": "registry.gate.passed.v1",
    "help": "The vulnerability gate of a repo rejected the pull of an image (rejected), would reject a pull or a promotion if it were enforced (previewed), or let an image pass of which it is not known what it holds (passed). One for an image and an action in 24 hours, unless its findings, or what is not known of it, change."
  },
  {
    "type": "registry.gate.previewed.v1",
    "help": "The vulnerability gate of a repo rejected the pull of an image (rejected), would reject a pull or a promotion if it were enforced (previewed), or let an image pass of which it is not known what it holds (passed). One for an image and an action in 24 hours, unless its findings, or what is not known of it, change."
  },
  {
    "type": "registry.gate.rejected.v1",
    "help": "The vulnerability gate of a repo rejected the pull of an image (rejected), would reject a pull or a promotion if it were enforced (previewed), or let an image pass of which it is not known what it holds (passed). One for an image and an action in 24 hours, unless its findings, or what is not known of it, change."
  },
  {
    "type": "registry.mirror.failed.v1",
    "help": "A turn of a repo that follows an image of another registry failed, or is the first that succeeded after such."
  },
  {
    "type": "registry.mirror.recovered.v1",
    "help": "A turn of a repo that follows an image of another registry failed, or is the first that succeeded after such."
  },
  {
    "type": "registry.pull.v1",
    "help": "Content of a repo was answered."
  },
  {
    "type": "registry.push.v1",
    "help": "Content came into a repo."
  },
  {
    "type": "registry.quota.created.v1",
    "help": "Sets the one quota of a group."
  },
  {
    "type": "registry.quota.deleted.v1",
    "help": "Ends the quota of a group: it is limited by those of the groups above it alone."
  },
  {
    "type": "registry.quota.updated.v1",
    "help": "Changes the fields named in the mask."
  },
  {
    "type": "registry.signature_gate.previewed.v1",
    "help": "A signature policy rejected the pull of an image (rejected), or would reject a pull, a promotion or a copy if it were enforced (previewed). One for an image and an action in 24 hours, unless what the policies say changes."
  },
  {
    "type": "registry.signature_gate.rejected.v1",
    "help": "A signature policy rejected the pull of an image (rejected), or would reject a pull, a promotion or a copy if it were enforced (previewed). One for an image and an action in 24 hours, unless what the policies say changes."
  },
  {
    "type": "registry.version_moved.v1",
    "help": "A tag that looks like a version, such as 1.2.3, came to point to another digest than it had, also when it was deleted in between."
  },
  {
    "type": "scanner.created.v1",
    "help": "Registers an adapter, of which a group has at most 20."
  },
  {
    "type": "scanner.deleted.v1",
    "help": "Ends the scanner."
  },
  {
    "type": "scanner.updated.v1",
    "help": "Changes the fields named in the mask. CheckScanner asks the adapter for its metadata and stores it."
  },
  {
    "type": "signature_exemption.created.v1",
    "help": "Lets one image, or what one tag points to, pass a policy for at most 90 days."
  },
  {
    "type": "signature_exemption.deleted.v1",
    "help": "Ends the exemption."
  },
  {
    "type": "signature_policy.created.v1",
    "help": "Makes a policy for the repos of a group and of all below it."
  },
  {
    "type": "signature_policy.deleted.v1",
    "help": "Ends the policy, with its exemptions."
  },
  {
    "type": "signature_policy.updated.v1",
    "help": "Changes the fields named in the mask."
  },
  {
    "type": "signer.created.v1",
    "help": "Says who signs, by exactly one of keys, keyless and x509."
  },
  {
    "type": "signer.deleted.v1",
    "help": "Ends the signer: no signature is trusted because of it any longer."
  },
  {
    "type": "signer.updated.v1",
    "help": "Changes the fields named in the mask."
  },
  {
    "type": "upstream.created.v1",
    "help": "Gives a group an upstream for an ecosystem."
  },
  {
    "type": "upstream.deleted.v1",
    "help": "Ends the upstream."
  },
  {
    "type": "upstream.updated.v1",
    "help": "Changes the fields named in the mask."
  },
  {
    "type": "vulnerabilities.finding.closed.v1",
    "help": "Findings of an image were opened or closed: one event of each for an image in a repo and a change of a feed, of what is known of the image, or of what is said of it."
  },
  {
    "type": "vulnerabilities.finding.opened.v1",
    "help": "Findings of an image were opened or closed: one event of each for an image in a repo and a change of a feed, of what is known of the image, or of what is said of it."
  },
  {
    "type": "vulnerabilities.scan.completed.v1",
    "help": "A registered scanner has reported on an image (completed), or will not (failed)."
  },
  {
    "type": "vulnerabilities.scan.failed.v1",
    "help": "A registered scanner has reported on an image (completed), or will not (failed)."
  }
];

"""What Placement's fixtures create in a database, created through the API.

The functions have the names and the arguments of placement.tests.functional.db.test_base, and
the classes those of placement.objects.
"""

import uuid

from oslo_utils.fixture import uuidsentinel

from api import Refused

# The last microversion in which an allocation has no type of consumer: the fixtures set none.
MICROVERSION = "placement 1.37"


class Thing:
    """A user, a project, a provider or a consumer: a bag of attributes."""

    def __init__(self, context=None, **attributes):
        self.__dict__.update(attributes)

    def create(self):
        """Does nothing: Placement creates users and projects with their allocations."""


class Provider(Thing):
    """A resource provider."""

    def set_aggregates(self, aggregates):
        """Puts the provider into these aggregates and no others."""
        body = self.objects.generation(self.uuid, aggregates=list(aggregates))
        self.objects.api.request("PUT", "/resource_providers/%s/aggregates" % self.uuid, body)


class Objects:
    """Creates objects in a Placement."""

    def __init__(self, api):
        self.api = api

    def create_provider(self, context, name, *aggregates, parent=None, **kwargs):
        """Creates a resource provider."""
        identifier = kwargs.get("uuid") or getattr(uuidsentinel, name)
        body = {"name": name, "uuid": identifier}
        if parent:
            body["parent_provider_uuid"] = parent
        self.api.request("POST", "/resource_providers", body)
        provider = Provider(uuid=identifier, name=name, objects=self)
        if aggregates:
            provider.set_aggregates(aggregates)
        return provider

    def generation(self, provider, **body):
        """Returns a body with the generation of the provider, which an update has to name."""
        return {"resource_provider_generation": self.api.get("/resource_providers/" + provider)["generation"], **body}

    def ensure_rc(self, context, name):
        """Creates a resource class that is not a standard one."""
        if name.startswith("CUSTOM_"):
            self.api.request("PUT", "/resource_classes/" + name)

    def add_inventory(self, provider, resource_class, total, **kwargs):
        """Adds an inventory to the provider."""
        self.ensure_rc(None, resource_class)
        kwargs.setdefault("max_unit", total)
        body = self.generation(provider.uuid, resource_class=resource_class, total=total, **kwargs)
        self.api.request("POST", "/resource_providers/%s/inventories" % provider.uuid, body)

    def set_traits(self, provider, *traits):
        """Gives the provider these traits and no others."""
        for name in traits:
            if name.startswith("CUSTOM_"):
                self.api.request("PUT", "/traits/" + name)
        self.api.request("PUT", "/resource_providers/%s/traits" % provider.uuid, self.generation(provider.uuid, traits=list(traits)))

    def ensure_consumer(self, context, user, project, consumer_id=None):
        """Returns a consumer. Placement creates it with its first allocation."""
        return Thing(uuid=consumer_id or str(uuid.uuid4()), user=user, project=project)

    def set_allocation(self, context, provider, consumer, used):
        """Allocates resources of the provider to the consumer."""
        self.api.request("PUT", "/allocations/" + consumer.uuid, {
            "allocations": {provider.uuid: {"resources": used}},
            "project_id": consumer.project.external_id,
            "user_id": consumer.user.external_id,
            "consumer_generation": None,
        })

    def create_user_and_project(self, context, prefix="fake"):
        """Returns a user and a project."""
        return Thing(external_id=prefix + "-user"), Thing(external_id=prefix + "-project")

    def empty(self):
        """Deletes everything that can be deleted."""
        providers = [provider["uuid"] for provider in self.api.get("/resource_providers")["resource_providers"]]
        for provider in providers:
            for consumer in self.api.get("/resource_providers/%s/allocations" % provider)["allocations"]:
                self.api.request("DELETE", "/allocations/" + consumer)
        while providers:
            left = [provider for provider in providers if not self.delete("/resource_providers/" + provider)]
            if len(left) == len(providers):
                raise RuntimeError("these providers cannot be deleted: " + ", ".join(left))
            providers = left
        for trait in self.api.get("/traits?name=startswith:CUSTOM_")["traits"]:
            self.api.request("DELETE", "/traits/" + trait)
        for found in self.api.get("/resource_classes")["resource_classes"]:
            if found["name"].startswith("CUSTOM_"):
                self.api.request("DELETE", "/resource_classes/" + found["name"])

    def delete(self, path):
        """Deletes an object and returns whether nothing depended on it."""
        try:
            self.api.request("DELETE", path)
        except Refused as error:
            if error.status != 409:
                raise
            return False
        return True

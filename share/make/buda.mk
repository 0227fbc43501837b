# Pattern rules for GNU make: `include buda.mk` and `digits.tti: digits.onnx` make a complete Makefile.
#
#   NAME.onnx (or another model) -> NAME.graph.json -> NAME.device.graph.json -> NAME.yaml -> NAME.pipes/ -> NAME.tti
#
# Every stage writes a depfile, so that a changed device descriptor, plugin or weight file rebuilds what depends on it and nothing else.
# Models may lie in the Makefile's folder or one below. Settings, before or after the include:
#
#   BUDA_DEVICE                          device to compile for (n150)
#   IMPORTER_FLAGS ... TTI_PACK_FLAGS    further options of one tool
#   BUDA_PIPES_FORMAT                    json (default), or yaml: pipes as TT-Buda's tools read them
#   BUDA_KERNELS                         set before the include, to anything but 0: images get kernels, too, for targets that execute them
#   BUDA_FLAGS                           further options of all tools
#   BUDA_BIN                             folder of the tools; default: beside this file's installation, else $PATH

BUDA_DEVICE ?= n150
BUDA_PIPES_FORMAT ?= json
BUDA_MK := $(lastword $(MAKEFILE_LIST))
BUDA_MK_DIR := $(dir $(BUDA_MK))
# The path as it was named: in a build tree this folder is a link.
BUDA_BIN ?= $(patsubst %/importer,%,$(wildcard $(abspath $(BUDA_MK_DIR)../../../bin)/importer))
buda_tool = $(if $(BUDA_BIN),$(BUDA_BIN)/)$(1)
buda_common = -MD -MF $@.d -MT $@ $(BUDA_FLAGS)

# Model formats, by ending; `MODEL_ENDINGS += .xyz` before the include adds one that a frontend of yours reads.
MODEL_ENDINGS += .onnx .mlp .pt .tflite .mlir .pb .pbtxt

define buda_import_rule
%.graph.json: %$(1)
	$$(call buda_tool,importer) $$< -o $$@ $$(buda_common) $$(IMPORTER_FLAGS)
endef
$(foreach ending,$(MODEL_ENDINGS),$(eval $(call buda_import_rule,$(ending))))

%.device.graph.json: %.graph.json
	$(call buda_tool,optimizer) $< -o $@ --device $(BUDA_DEVICE) --settings $*.optimizer.json $(buda_common) $(OPTIMIZER_FLAGS)

%.yaml: %.device.graph.json
	$(call buda_tool,balancer) $< -o $@ --device $(BUDA_DEVICE) --settings $*.balancer.json $(buda_common) $(BALANCER_FLAGS)

# What the balancer writes next to a netlist. Where it is missing it is made alone, so that an edited netlist stays.
%.plan.json: %.yaml
	@if [ -e $@ ]; then touch $@; else set -x; \
	  $(call buda_tool,balancer) $*.device.graph.json -o - --plan $@ --device $(BUDA_DEVICE) $(BUDA_FLAGS) $(BALANCER_FLAGS) > /dev/null; fi

# A folder of products; its stamp stands for it. Which epochs there are is known once the pipes are made, so another make goes over them, side
# by side with `make -j`. Where nothing but pipes of epochs has changed, they were edited, and stay.
buda_edited = %/overlay/pipes.json %/overlay/pipegen.yaml
%.pipes/stamp: %.yaml
	$(if $(filter-out $(buda_edited),$?),rm -rf $(@D)/temporal_epoch_* $(@D)/reports $(@D)/kernels)
	$(if $(filter-out $(buda_edited),$?),$(call buda_tool,netlist2pipe) $< -o $(@D) --format $(BUDA_PIPES_FORMAT) \
	  --device $(BUDA_DEVICE) $(buda_common) $(NETLIST2PIPE_FLAGS))
	@+$(MAKE) --no-print-directory -f $(BUDA_MK) BUDA_PIPES=$(@D) BUDA_BIN='$(BUDA_BIN)' BUDA_DEVICE='$(BUDA_DEVICE)' \
	  BUDA_FLAGS='$(BUDA_FLAGS)' PIPEGEN_FLAGS='$(PIPEGEN_FLAGS)' buda-epochs
	@cat $(@D)/temporal_epoch_*/overlay/blob.json.d | sed 's|^[^ ]*/overlay/blob.json:|$@:|' >> $@.d
	@touch $@

# The stream programs of one epoch, in that other make or as goals of their own. Elsewhere they are files of the folder, which the stamp is for.
buda_pipegen = $(call buda_tool,pipegen) $< -o $@ --device $(BUDA_DEVICE) $(buda_common) $(PIPEGEN_FLAGS)
ifneq ($(BUDA_PIPES)$(filter %/overlay/blob.json,$(MAKECMDGOALS)),)
%/overlay/blob.json: %/overlay/pipes.json
	$(buda_pipegen)
%/overlay/blob.json: %/overlay/pipegen.yaml
	$(buda_pipegen)
endif

ifdef BUDA_PIPES
.PHONY: buda-epochs
buda-epochs: $(addsuffix /overlay/blob.json,$(wildcard $(BUDA_PIPES)/temporal_epoch_*))
endif

%.pipes/kernels/manifest.json: %.yaml %.pipes/stamp
	$(call buda_tool,kernelc) $< -o $(@D) $(buda_common) $(KERNELC_FLAGS)

# With the settings of the stages that have made them, as `buda compile` does; a netlist of one's own has none. A folder of kernels that is
# not wanted any more would be packed. What the image depends on leaves kernels out: it would make them again, wanted or not.
buda_settings = $(foreach stage,optimizer balancer,$(addprefix --settings ,$(wildcard $*.$(stage).json)))
buda_kernels := $(filter-out 0,$(BUDA_KERNELS))
%.tti: %.yaml %.plan.json %.pipes/stamp $(if $(buda_kernels),%.pipes/kernels/manifest.json)
	$(if $(buda_kernels),,$(if $(wildcard $*.pipes/kernels),rm -rf $*.pipes/kernels $*.pipes/kernels.d))
	$(call buda_tool,tti-pack) --netlist $< --plan $*.plan.json --build $*.pipes -o $@ --device $(BUDA_DEVICE) $(buda_settings) $(buda_common) \
	  $(TTI_PACK_FLAGS)
	@sed -i 's|[^ ]*\.pipes/kernels/[^ ]*||g' $@.d

.PRECIOUS: %.graph.json %.device.graph.json %.yaml %.plan.json %.pipes/stamp %.pipes/kernels/manifest.json

# Rules of depfiles must not become the goal of a plain `make`: that is the Makefile's first one.
# The make for one folder's epochs has nothing to do with other files, whose depfiles may name pipes that are no longer there.
buda_goal := $(.DEFAULT_GOAL)
-include $(wildcard $(if $(BUDA_PIPES),$(BUDA_PIPES)/temporal_epoch_*/overlay/blob.json.d,$(foreach folder,. *,$(addprefix $(folder)/, \
  *.graph.json.d *.yaml.d *.pipes/stamp.d *.pipes/kernels/manifest.json.d *.pipes/temporal_epoch_*/overlay/blob.json.d *.tti.d))))
.DEFAULT_GOAL := $(buda_goal)

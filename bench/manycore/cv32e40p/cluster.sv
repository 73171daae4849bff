// A cluster of CV32E40P cores around a TCDM: 16 cores, PULP's low-latency interconnect with test-and-set, 32 banks.
// Each core reads instructions and constants from a memory of its own that answers in the next cycle.
// Stores to 0x4000_0000 and above go to the simulation's main program.
module cluster #(
    parameter int CORES = 16,
    parameter int BANKS = 32,
    parameter int BANK_WORDS = 2048
) (
    input logic clk_i,
    input logic rst_ni,
    output logic [CORES-1:0] host_o,
    output logic [CORES-1:0][31:0] host_addr_o,
    output logic [CORES-1:0][31:0] host_data_o
);
  localparam int BANK_BITS = $clog2(BANK_WORDS);
  logic [31:0] code[65536]  /*verilator public_flat_rw*/;  // 0x2000_0000: 256 KB, and the start at 0x2003_f000
  logic [31:0] tcdm[BANKS*BANK_WORDS]  /*verilator public_flat_rw*/;  // 0x0800_0000 and 0x1000_0000

  logic [CORES-1:0] instr_req, instr_valid, req, gnt, valid, we, to_tcdm, tcdm_gnt, tcdm_valid, other_q;
  logic [CORES-1:0][31:0] instr_addr, instr_data, addr, wdata, rdata, tcdm_rdata, other_rdata;
  logic [CORES-1:0][3:0] be;

  logic [BANKS-1:0] b_req, b_set, b_wen, b_valid;
  logic [BANKS-1:0][BANK_BITS-1:0] b_addr;
  logic [BANKS-1:0][31:0] b_wdata, b_rdata;
  logic [BANKS-1:0][3:0] b_be;
  logic [BANKS-1:0][CORES-1:0] b_id, b_id_q;

  for (genvar i = 0; i < CORES; i++) begin : g_core
    cv32e40p_top #(
        .NUM_MHPMCOUNTERS(8)
    ) core_i (
        .clk_i,
        .rst_ni,
        .pulp_clock_en_i(1'b1),
        .scan_cg_en_i(1'b0),
        .boot_addr_i(32'h2003_f000),
        .mtvec_addr_i(32'h2003_f100),
        .dm_halt_addr_i(32'h2003_f800),
        .hart_id_i(i),
        .dm_exception_addr_i(32'h2003_f800),
        .instr_req_o(instr_req[i]),
        .instr_gnt_i(instr_req[i]),
        .instr_rvalid_i(instr_valid[i]),
        .instr_addr_o(instr_addr[i]),
        .instr_rdata_i(instr_data[i]),
        .data_req_o(req[i]),
        .data_gnt_i(gnt[i]),
        .data_rvalid_i(valid[i]),
        .data_we_o(we[i]),
        .data_be_o(be[i]),
        .data_addr_o(addr[i]),
        .data_wdata_o(wdata[i]),
        .data_rdata_i(rdata[i]),
        .irq_i('0),
        .irq_ack_o(),
        .irq_id_o(),
        .debug_req_i(1'b0),
        .debug_havereset_o(),
        .debug_running_o(),
        .debug_halted_o(),
        .fetch_enable_i(1'b1),
        .core_sleep_o()
    );
    assign to_tcdm[i] = addr[i][31:28] < 4'h2;
    assign gnt[i] = to_tcdm[i] ? tcdm_gnt[i] : req[i];
    assign valid[i] = tcdm_valid[i] | other_q[i];
    assign rdata[i] = other_q[i] ? other_rdata[i] : tcdm_rdata[i];
    assign host_o[i] = req[i] & we[i] & (addr[i][31:28] == 4'h4);
    assign host_addr_o[i] = addr[i];
    assign host_data_o[i] = wdata[i];
    always_ff @(posedge clk_i, negedge rst_ni) begin
      if (!rst_ni) begin
        instr_valid[i] <= 1'b0;
        other_q[i] <= 1'b0;
      end else begin
        instr_valid[i] <= instr_req[i];
        other_q[i] <= req[i] & !to_tcdm[i];
      end
      instr_data[i] <= code[instr_addr[i][17:2]];
      other_rdata[i] <= code[addr[i][17:2]];
    end
  end

  XBAR_TCDM #(
      .N_CH0(CORES),
      .N_CH1(0),
      .N_SLAVE(BANKS),
      .ADDR_MEM_WIDTH(BANK_BITS),
      .TEST_SET_BIT(20)
  ) xbar_i (
      .data_req_i(req & to_tcdm),
      .data_add_i(addr),
      .data_wen_i(~we),
      .data_wdata_i(wdata),
      .data_be_i(be),
      .data_gnt_o(tcdm_gnt),
      .data_r_valid_o(tcdm_valid),
      .data_r_rdata_o(tcdm_rdata),
      .data_req_o(b_req),
      .data_ts_set_o(b_set),
      .data_add_o(b_addr),
      .data_wen_o(b_wen),
      .data_wdata_o(b_wdata),
      .data_be_o(b_be),
      .data_ID_o(b_id),
      .data_gnt_i({BANKS{1'b1}}),
      .data_r_rdata_i(b_rdata),
      .data_r_valid_i(b_valid),
      .data_r_ID_i(b_id_q),
      .TCDM_arb_policy_i(2'b00),
      .clk(clk_i),
      .rst_n(rst_ni)
  );

  for (genvar j = 0; j < BANKS; j++) begin : g_bank
    always_ff @(posedge clk_i, negedge rst_ni) begin
      if (!rst_ni) b_valid[j] <= 1'b0;
      else b_valid[j] <= b_req[j] & ~b_set[j];
      b_id_q[j] <= b_id[j];
      if (b_req[j]) begin
        b_rdata[j] <= tcdm[b_addr[j]*BANKS+j];
        if (!b_wen[j])
          for (int k = 0; k < 4; k++) if (b_be[j][k]) tcdm[b_addr[j]*BANKS+j][8*k+:8] <= b_wdata[j][8*k+:8];
      end
    end
  end
endmodule
